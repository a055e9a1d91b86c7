// Node, Bun, Deno: the module is read from the file beside this one, at first use.
import { readFileSync } from 'node:fs';
import { setModuleSource } from './instance.js';

setModuleSource(() => readFileSync(new URL('./wasm/foreword_bg.wasm', import.meta.url)));

export * from './foreword.js';
