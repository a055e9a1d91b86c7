// The built module itself, before any facade.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const file = (name) => new URL(`../../../pkg/wasm/${name}`, import.meta.url);

test('the module compiles and starts in this Node', async () => {
  const { glue } = await import(file('foreword.js'));
  const module = await WebAssembly.compile(await readFile(file('foreword_bg.wasm')));
  const { exports } = await WebAssembly.instantiate(module, glue().imports);
  assert.ok(exports.memory.buffer.byteLength > 0);
});

test('the glue makes no code out of text: extension pages and Workers forbid it', async () => {
  const glue = await readFile(file('foreword.js'), 'utf8');
  assert.doesNotMatch(glue, /new Function\b|\beval\(/);
});
