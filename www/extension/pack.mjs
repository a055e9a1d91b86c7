// Puts the extension and the package together in a folder that a browser loads: node www/extension/pack.mjs DIR
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('./', import.meta.url));
const pkg = fileURLToPath(new URL('../../pkg/', import.meta.url));

export function pack(dir) {
  if (!existsSync(join(pkg, 'wasm/foreword_bg.wasm'))) throw new Error('the module is missing: run cargo xtask build');
  mkdirSync(dir, { recursive: true });
  for (const name of readdirSync(here)) if (!/\.(mjs|md)$/.test(name)) cpSync(join(here, name), join(dir, name));
  for (const name of readdirSync(pkg).filter((name) => /^(?!entry).*\.js$|^entry\.default\.js$/.test(name))) cpSync(join(pkg, name), join(dir, 'foreword', name));
  for (const name of ['foreword.js', 'foreword_bg.wasm']) cpSync(join(pkg, 'wasm', name), join(dir, 'foreword/wasm', name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!process.argv[2]) throw new Error('say where to: node www/extension/pack.mjs DIR');
  pack(process.argv[2]);
  console.log(`Open chrome://extensions, switch on developer mode, and load ${process.argv[2]} unpacked.`);
}
