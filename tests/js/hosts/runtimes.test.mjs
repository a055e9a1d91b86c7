// The same recall on the same snapshot gives the same bytes in every host: the runtimes.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { bin, project, put, root, run, same } from './lab.mjs';

const { dir } = await project();
await put(dir, {
  'app.mjs': `
import * as foreword from 'foreword';
import { given } from './given.js';
import { vector } from './vector.mjs';
console.log(await vector(foreword, given));
`,
  'inline.mjs': `
import * as foreword from 'foreword/inline';
import { given } from './given.js';
import { vector } from './vector.mjs';
console.log(await vector(foreword, given));
`,
  'core.mjs': `
import * as foreword from 'foreword/core';
import { readFile } from 'node:fs/promises';
import { given } from './given.js';
import { vector } from './vector.mjs';
const refused = await foreword.Foreword.empty().catch((error) => error.code);
if (refused !== 'NOT_INITIALIZED') throw new Error(refused);
const failed = await foreword.init(new Uint8Array([1, 2, 3])).catch((error) => error.code);
if (failed !== 'MODULE_LOAD') throw new Error(failed);
await Promise.all([foreword.init(readFile(new URL(import.meta.resolve('foreword/foreword.wasm')))), foreword.init()]);
console.log(await vector(foreword, given));
`,
  'dispose.mjs': `
import { Foreword } from 'foreword';
let kept;
{
  using memory = await Foreword.empty();
  kept = memory;
  memory.remember({ id: 'a', statement: 'The gate opens at noon.' });
}
try { kept.info(); } catch (error) { console.log(error.code); }
`,
});
const big = { cwd: dir, maxBuffer: 1 << 26, timeout: 120_000, env: { ...process.env, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' } };
const runtimes = {
  'this Node': [process.execPath],
  'the machine’s Node': ['node'],
  Deno: [bin('deno'), 'run', '--no-prompt', '--allow-read', '--allow-env'],
  Bun: [bin('bun'), 'run'],
};

for (const [name, [program, ...args]] of Object.entries(runtimes)) {
  test(`${name}: the package, the module inlined, and a module brought along`, async () => {
    for (const app of ['app.mjs', 'inline.mjs', 'core.mjs']) {
      const { stdout, stderr } = await run(program, [...args, app], big);
      await same(`${name}, ${app}`, stdout.trim());
      assert.equal(stderr, '');
    }
  });
}

test('a memory is disposed where its scope ends', async () => {
  assert.equal((await run(bin('bun'), ['run', 'dispose.mjs'], big)).stdout.trim(), 'INVALID_REQUEST');
  assert.equal((await run(process.execPath, ['dispose.mjs'], big)).stdout.trim(), 'INVALID_REQUEST');
});

test('importing the package does nothing: a missing module is found out at first use, and a second try works', async () => {
  const { dir } = await project();
  const module = join(dir, 'node_modules/foreword/wasm/foreword_bg.wasm');
  await put(dir, {
    'late.mjs': `
import { copyFileSync } from 'node:fs';
import { Foreword } from 'foreword';
const failed = await Foreword.empty().catch((error) => error.code);
copyFileSync(process.argv[2], process.argv[3]);
console.log(failed, (await Foreword.empty()).info().records);
`,
  });
  await rm(module);
  const { stdout } = await run(process.execPath, ['late.mjs', join(root, 'pkg/wasm/foreword_bg.wasm'), module], { cwd: dir });
  assert.equal(stdout.trim(), 'MODULE_LOAD 0');
});
