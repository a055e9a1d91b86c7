// How snapshots and the static table come in: as bytes, as a stream, whole and damaged.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Foreword, buildSnapshot } from '../../../pkg/entry.node.js';

const now = '2025-12-01';
const nonce = 'testnonce0001';
const table = readFileSync(new URL('../../../pkg/static/foreword-static-v1.bin', import.meta.url));
const records = [
  { id: 'car', statement: 'The physician drives an old automobile to the clinic.' },
  { id: 'tide', statement: 'The tide table for Kiel hangs in the office.' },
  { id: 'rope', statement: 'The spare rope lies in locker nine.' },
];
const plain = await buildSnapshot({ records });
const code = (expected, text) => (error) => error.name === 'ForewordError' && error.code === expected && (!text || error.message.includes(text));
const first = async (memory, query) => (await memory.search(query, { now })).evidence[0]?.id;

/** A stream in pieces of uneven length. */
function pieces(bytes, end = (controller) => controller.close()) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return end(controller);
      controller.enqueue(bytes.slice(at, (at += 1 + (at % 997))));
    },
  });
}

test('bytes, a view into others, a blob, a response and a stream load the same snapshot', async () => {
  const padded = new Uint8Array(plain.bytes.length + 10);
  padded.set(plain.bytes, 5);
  const forms = {
    bytes: plain.bytes,
    buffer: plain.bytes.buffer.slice(plain.bytes.byteOffset, plain.bytes.byteOffset + plain.bytes.byteLength),
    view: padded.subarray(5, 5 + plain.bytes.length),
    blob: new Blob([plain.bytes]),
    response: new Response(plain.bytes),
    sized: new Response(plain.bytes, { headers: { 'content-length': `${plain.bytes.length}` } }),
    lying: new Response(plain.bytes, { headers: { 'content-length': '99999999999999' } }),
    stream: pieces(plain.bytes),
    promise: Promise.resolve(plain.bytes),
  };
  const revision = (await Foreword.load(plain.bytes)).info().revision;
  for (const [form, given] of Object.entries(forms)) {
    const memory = await Foreword.load(given, { nonce });
    assert.equal(memory.info().revision, revision, form);
    assert.equal(await first(memory, 'spare rope'), 'rope', form);
    memory.dispose();
  }
});

test('a download that fails, or brings something else, is an error and no memory', async () => {
  await assert.rejects(Foreword.load(pieces(plain.bytes, (controller) => controller.error(new Error('connection lost')))), /connection lost/);
  await assert.rejects(Foreword.load(new Response('gone', { status: 404 })), code('INVALID_REQUEST', '404'));
  await assert.rejects(Foreword.load(pieces(plain.bytes.subarray(0, 500))), code('SNAPSHOT_CORRUPT'));
  await assert.rejects(Foreword.load(new ReadableStream({ start: (controller) => (controller.enqueue('text'), controller.close()) })), code('INVALID_REQUEST'));
});

test('what is handed out stays what it was when the module grows', async () => {
  const memory = await Foreword.load(plain.bytes, { nonce });
  const compacted = memory.compact();
  const before = compacted.slice();
  memory.remember({ id: 'long', statement: 'harbour '.repeat(500_000) });
  assert.deepEqual(compacted, before);
  memory.dispose();
});

test('the static table finds what shares no word, and is read once for all who use it', async () => {
  const { bytes } = await buildSnapshot({ records, staticTable: table });
  const again = await buildSnapshot({ records, staticTable: new Uint8Array(table).buffer });
  assert.deepEqual(again.bytes, bytes);
  const one = await Foreword.load(bytes, { nonce, staticTable: table });
  const two = await Foreword.load(bytes, { nonce, staticTable: table });
  assert.equal(one.info().model, 'foreword-static-v1');
  for (const memory of [one, two]) assert.equal(await first(memory, 'doctor car hospital'), 'car');
  const hashed = await Foreword.load(plain.bytes, { nonce });
  assert.notEqual(await first(hashed, 'doctor car hospital'), 'car');
  one.remember({ id: 'law', statement: 'The attorney signs the contract at the courthouse.' });
  assert.equal(await first(one, 'lawyer agreement court'), 'law', 'what is learned is embedded with it too');
  const compacted = await Foreword.load(one.compact(), { nonce, staticTable: table });
  assert.equal(await first(compacted, 'lawyer agreement court'), 'law');
  for (const memory of [one, two, hashed, compacted]) memory.dispose();
});

test('a snapshot and a table of different models are refused by name, and so is a table left out', async () => {
  const { bytes } = await buildSnapshot({ records, staticTable: table });
  await assert.rejects(Foreword.load(plain.bytes, { staticTable: table }), code('MODEL_MISMATCH', 'foreword-static-v1'));
  await assert.rejects(Foreword.load(bytes), code('MODEL_MISMATCH', 'staticTable'));
  const lexical = await Foreword.load(bytes, { nonce, config: { semanticTimeoutMs: 0 } });
  assert.equal(await first(lexical, 'spare rope'), 'rope');
  const damaged = new Uint8Array(table);
  damaged[damaged.length >> 1] ^= 1;
  await assert.rejects(Foreword.load(bytes, { staticTable: damaged }), code('STATIC_TABLE', 'damaged'));
  await assert.rejects(Foreword.load(bytes, { staticTable: 'path/to/table' }), code('STATIC_TABLE'));
  lexical.dispose();
});
