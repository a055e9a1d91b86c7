// A reader that knows docs/snapshot-format.md and nothing of the code, over the snapshot that is kept in tests/data/golden.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { buildSnapshot } from '../../../pkg/entry.node.js';

const golden = (name) => readFileSync(new URL(`../../data/golden/${name}`, import.meta.url));
const file = golden('v1.fwd');
const given = golden('records.jsonl').toString().trim().split('\n').map((line) => JSON.parse(line));
const [topics, entities] = ['topics.json', 'entities.json'].map((name) => JSON.parse(golden(name)));

const U64 = (1n << 64n) - 1n;
const [P1, P2, P3, P4, P5] = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];

/** XXH64 with seed 0, after its specification. */
function xxh64(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const rotate = (value, by) => ((value << by) | (value >> (64n - by))) & U64;
  const round = (sum, lane) => (rotate((sum + lane * P2) & U64, 31n) * P1) & U64;
  const merge = (hash, sum) => (((hash ^ round(0n, sum)) * P1) + P4) & U64;
  let [hash, at] = [P5, 0];
  if (bytes.length >= 32) {
    const sums = [(P1 + P2) & U64, P2, 0n, -P1 & U64];
    for (; at + 32 <= bytes.length; at += 32) sums.forEach((sum, lane) => (sums[lane] = round(sum, view.getBigUint64(at + 8 * lane, true))));
    hash = sums.map((sum, lane) => rotate(sum, [1n, 7n, 12n, 18n][lane])).reduce((a, b) => (a + b) & U64);
    for (const sum of sums) hash = merge(hash, sum);
  }
  hash = (hash + BigInt(bytes.length)) & U64;
  for (; at + 8 <= bytes.length; at += 8) hash = (rotate(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * P1 + P4) & U64;
  for (; at + 4 <= bytes.length; at += 4) hash = (rotate(hash ^ ((BigInt(view.getUint32(at, true)) * P1) & U64), 23n) * P2 + P3) & U64;
  for (; at < bytes.length; at++) hash = (rotate(hash ^ ((BigInt(bytes[at]) * P5) & U64), 11n) * P1) & U64;
  hash = ((hash ^ (hash >> 33n)) * P2) & U64;
  hash = ((hash ^ (hash >> 29n)) * P3) & U64;
  return hash ^ (hash >> 32n);
}

/** The container: sections by name, everything about them checked. */
function sections(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  assert.equal(file.subarray(0, 8).toString('latin1'), 'FOREWORD');
  assert.equal(view.getUint16(8, true), 1, 'version');
  const count = view.getUint16(10, true);
  assert.equal(view.getUint32(12, true), 0);
  assert.equal(xxh64(file.subarray(24, 24 + 32 * count)), view.getBigUint64(16, true), 'hash of the table');
  const found = new Map();
  let expected = 24 + 32 * count;
  for (let at = 24; at < 24 + 32 * count; at += 32) {
    const name = file.subarray(at, at + 4).toString('latin1');
    assert.match(name, /^[A-Z0-9]{4}$/);
    assert.equal(view.getUint32(at + 4, true), 0);
    const [start, length] = [8, 16].map((offset) => Number(view.getBigUint64(at + offset, true)));
    assert.equal(start, expected, name);
    const bytes = file.subarray(start, start + length);
    assert.equal(xxh64(bytes), view.getBigUint64(at + 24, true), name);
    expected = (start + length + 7) & ~7;
    assert.ok(file.subarray(start + length, expected).every((byte) => byte === 0), name);
    assert.ok(!found.has(name), name);
    found.set(name, bytes);
  }
  assert.equal(expected, file.length);
  return found;
}

/** The decoded values. */
class Decoder {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
  }

  done(value) {
    assert.equal(this.at, this.bytes.length, 'bytes are left over');
    return value;
  }

  unsigned() {
    const first = this.view.getUint8(this.at++);
    if (first < 251) return first;
    const size = { 251: 2, 252: 4, 253: 8 }[first];
    this.at += size;
    const at = this.at - size;
    return size === 2 ? this.view.getUint16(at, true) : size === 4 ? this.view.getUint32(at, true) : this.view.getBigUint64(at, true);
  }

  signed() {
    const folded = BigInt(this.unsigned());
    return Number(folded & 1n ? -(folded >> 1n) - 1n : folded >> 1n);
  }

  float() {
    this.at += 4;
    return this.view.getFloat32(this.at - 4, true);
  }

  flag() {
    const byte = this.view.getUint8(this.at++);
    assert.ok(byte < 2);
    return byte === 1;
  }

  text() {
    const length = this.unsigned();
    this.at += length;
    return new TextDecoder('utf-8', { fatal: true }).decode(this.bytes.subarray(this.at - length, this.at));
  }

  option(read) {
    return this.flag() ? read.call(this) : undefined;
  }

  list(read) {
    return Array.from({ length: this.unsigned() }, () => read.call(this));
  }

  scope() {
    return Object.fromEntries(this.list(() => [this.text(), this.text()]));
  }

  record() {
    const { text, signed, float, unsigned } = this;
    return {
      id: this.text(),
      kind: this.text(),
      topic: this.option(text),
      subject: this.text(),
      predicate: this.text(),
      statement: this.text(),
      title: this.text(),
      cues: this.list(text),
      tags: this.list(text),
      entities: this.list(text),
      status: ['active', 'archived', 'deleted'][this.unsigned()],
      supersedes: this.list(text),
      supersededBy: this.option(text),
      unresolved: this.flag(),
      confidence: this.option(float),
      importance: this.option(float),
      created: this.option(signed),
      updated: this.option(signed),
      validFrom: this.option(signed),
      validUntil: this.option(signed),
      expires: this.option(signed),
      scope: this.scope(),
      source: { provider: this.text(), uri: this.text(), session: this.text(), position: this.option(unsigned), speaker: this.text() },
    };
  }

  catalog() {
    const { text } = this;
    return {
      topics: this.list(() => ({ id: this.text(), title: this.text(), aliases: this.list(text), tags: this.list(text), summary: this.text(), unresolved: this.flag(), scope: this.scope(), providers: this.list(text) })),
      providers: this.list(() => ({ id: this.text(), description: this.text(), scope: this.scope() })),
      entities: this.list(() => ({ name: this.text(), aliases: this.list(text), scope: this.scope() })),
    };
  }

  meta() {
    const { text } = this;
    const bm25 = () => ({ k1: this.float(), b: this.float() });
    const shape = () => ({ bm25: bm25(), weights: Array.from({ length: 14 }, () => this.float()) });
    return {
      records: this.unsigned(),
      groups: this.unsigned(),
      model: this.text(),
      dimensions: this.unsigned(),
      revision: this.unsigned(),
      kinds: this.list(text),
      config: { turn: shape(), fact: shape(), section: shape(), group: bm25() },
      suppressed: this.list(text),
    };
  }
}

const found = sections(file);
const bytes = (name) => found.get(name) ?? new Uint8Array();
const view = (name) => new DataView(bytes(name).buffer, bytes(name).byteOffset, bytes(name).length);
const decode = (name, read) => {
  const decoder = new Decoder(bytes(name));
  return decoder.done(read(decoder));
};
const u32s = (name) => Array.from({ length: bytes(name).length / 4 }, (_, at) => view(name).getUint32(4 * at, true));
const i64s = (name) => Array.from({ length: bytes(name).length / 8 }, (_, at) => view(name).getBigInt64(8 * at, true)).map((time) => (time === -(1n << 63n) ? undefined : Number(time)));
/** Where each piece begins and ends. */
const pieces = (name) => u32s(name).map((end, at, ends) => {
  assert.ok(end >= (ends[at - 1] ?? 0), name);
  return [ends[at - 1] ?? 0, end];
});
const texts = (ends, name) => {
  const cut = pieces(ends).map(([from, to]) => new TextDecoder('utf-8', { fatal: true }).decode(bytes(name).subarray(from, to)));
  assert.equal(u32s(ends).at(-1) ?? 0, bytes(name).length, name);
  return cut;
};
const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const time = (given) => (given === undefined ? undefined : Date.parse(given));
const meta = decode('META', (decoder) => decoder.meta());

test('the records are those that went in', () => {
  const read = pieces('RECE').map(([from, to]) => {
    const decoder = new Decoder(bytes('RECB').subarray(from, to));
    return decoder.done(decoder.record());
  });
  const source = { provider: '', uri: '', session: '', position: undefined, speaker: '' };
  const none = { topic: undefined, subject: '', predicate: '', statement: '', title: '', cues: [], tags: [], entities: [], status: 'active', supersedes: [], supersededBy: undefined, unresolved: false, confidence: undefined, importance: undefined, updated: undefined, scope: {} };
  const expected = given.map((record) => {
    const times = Object.fromEntries(['created', 'updated', 'validFrom', 'validUntil', 'expires'].map((name) => [name, time(record[name])]));
    return { ...none, ...record, ...times, source: { ...source, ...record.source } };
  });
  expected[2].supersededBy = 'berth-new';
  assert.deepEqual(read, expected);
  const ids = texts('IDSE', 'IDSB');
  assert.deepEqual(ids, given.map(({ id }) => id));
  assert.deepEqual(u32s('IDSO').map((number) => ids[number]), [...ids].sort(byBytes));
});

test('the head and the catalog say what they are said to', () => {
  assert.deepEqual([meta.records, meta.groups, meta.model, meta.dimensions, meta.revision, meta.suppressed], [given.length, 2, 'remem-local-hash-v1', 384, 1, []]);
  assert.ok([meta.config.turn, meta.config.fact, meta.config.section].every(({ bm25, weights }) => bm25.k1 > 0 && bm25.b <= 1 && weights[0] === 1));
  assert.deepEqual(decode('CATG', (decoder) => decoder.catalog()), { topics, providers: [], entities });
  assert.deepEqual(decode('GRPN', (decoder) => decoder.list(decoder.text)), ['harbour talk', 'notes/tides.md']);
});

test('the facts stand in their columns', () => {
  const scopes = decode('SCOP', (decoder) => decoder.list(decoder.scope));
  const shapes = { turn: 0, note: 2 };
  given.forEach((record, number) => {
    const at = 12 * number;
    const [flags, shape, importance, confidence] = [8, 9, 10, 11].map((offset) => view('FACT').getUint8(at + offset));
    assert.deepEqual(scopes[view('FACT').getUint32(at, true)], record.scope ?? {}, record.id);
    assert.equal(meta.kinds[view('FACT').getUint32(at + 4, true)], record.kind, record.id);
    const status = { archived: 1 }[record.status] ?? 0;
    const set = status | (record.id === 'berth-old' ? 4 : 0) | (record.unresolved ? 8 : 0) | (record.id === 'order' ? 16 : 0);
    const share = (value) => (value === undefined ? 255 : Math.round(value * 254));
    assert.deepEqual([flags, shape, importance, confidence], [set, shapes[record.kind] ?? 1, share(record.importance), share(record.confidence)], record.id);
  });
  const none = 2 ** 32 - 1;
  assert.deepEqual(u32s('FGRP'), [0, 0, none, none, none, 1, none, none]);
  assert.deepEqual(u32s('FPOS'), [0, 1, none, none, none, 0, none, none]);
  assert.deepEqual(i64s('FCRT'), given.map(({ created }) => time(created)));
  assert.deepEqual(i64s('FCHG'), given.map(({ updated }) => time(updated)));
  assert.deepEqual(i64s('FEXP'), given.map(({ expires }) => time(expires)));
  assert.deepEqual(i64s('FFRM'), given.map(({ validFrom }) => time(validFrom)));
  assert.deepEqual(i64s('FUNT'), given.map(({ validUntil }) => time(validUntil)));
  assert.deepEqual(i64s('FRPL'), given.map(({ id }) => (id === 'berth-old' ? time('2025-04-10') : undefined)));
});

/** The signature's bit of a word: FNV-1a with 64 bits, folded to six. */
function bit(word) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(word)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & U64;
  return (((hash ^ (hash >> 29n)) * 0x9e3779b97f4a7c15n) & U64) >> 58n;
}

test('a signature has a bit for each word that carries meaning', () => {
  assert.equal(bytes('SIGN').length, 9 * given.length);
  // "The gate code is 2291.": two words; a number must not differ, and is no part of it.
  const at = 9 * given.findIndex(({ id }) => id === 'code');
  assert.equal(view('SIGN').getBigUint64(at, true), (1n << bit('gate')) | (1n << bit('code')));
  assert.equal(view('SIGN').getUint8(at + 8), 2);
});

for (const [what, names, documents] of [['records', ['TRMB', 'TRME', 'PSTE', 'PSTO', 'POST', 'POWN'], given.length], ['groups', ['GTRB', 'GTRE', 'GPSE', 'GPSO', 'GPST', 'GPOW'], 2]]) {
  test(`the terms of ${what} lead to their postings`, () => {
    const [bodies, ends, postingEnds, owns, postings, bits] = names;
    const terms = texts(ends, bodies);
    assert.deepEqual(terms, [...terms].sort(byBytes));
    assert.equal(u32s(postings).length, u32s(postingEnds).at(-1));
    assert.equal(bytes(bits).length, Math.ceil(u32s(postings).length / 8));
    const lists = new Map(pieces(postingEnds).map(([from, to], term) => {
      const list = u32s(postings).slice(from, to).map((posting, offset) => ({ impact: posting >>> 24, number: posting & 0xffffff, own: ((bytes(bits)[(from + offset) >> 3] >> ((from + offset) & 7)) & 1) === 1 }));
      assert.ok(list.length > 0 && list.every(({ impact, number }, at) => impact > 0 && number < documents && number > (list[at - 1]?.number ?? -1)), terms[term]);
      assert.equal(list.filter(({ own }) => own).length, u32s(owns)[term], terms[term]);
      return [terms[term], list];
    }));
    if (what === 'groups') return assert.deepEqual(lists.get('ferri').map(({ number }) => number), [0]);
    // Its neighbour in the talk holds the word; by itself only the first does.
    assert.deepEqual(lists.get('ferri').map(({ number, own }) => [number, own]), [[0, true], [1, false]]);
    assert.deepEqual(lists.get('berth').map(({ number }) => number), [2, 3]);
    assert.deepEqual(lists.get('\u0001odile').map(({ number, own }) => own && number), [0, 2, 3], 'the name of whom records are about or by');
    assert.ok(lists.has('\u0002time') && lists.has('\u0002quantity'), 'kinds of answers');
  });
}

test('a vector is made of signs, magnitudes and a step', () => {
  const blocks = Math.ceil(meta.dimensions / 32);
  assert.deepEqual(['VECS', 'VECM', 'VECX'].map((name) => bytes(name).length), [4, 16, 0].map((width) => width * blocks * given.length).with(2, 4 * given.length));
  const vectors = given.map((_, number) => Array.from({ length: meta.dimensions }, (_, dimension) => {
    const [block, within] = [number * blocks + (dimension >> 5), dimension & 31];
    const pair = bytes('VECM')[16 * block + (within & 15)];
    const magnitude = within < 16 ? pair & 15 : pair >> 4;
    const negative = (bytes('VECS')[4 * block + (within >> 3)] >> (within & 7)) & 1;
    return (negative ? -magnitude : magnitude) * view('VECX').getFloat32(4 * number, true);
  }));
  const dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);
  for (const [number, vector] of vectors.entries()) {
    const length = Math.sqrt(dot(vector, vector));
    assert.ok(Math.abs(length - 1) < 0.05, `${given[number].id}: ${length}`);
    assert.ok(vector.some((value) => Math.round(Math.abs(value) / view('VECX').getFloat32(4 * number, true)) === 15), 'the largest has every step');
  }
  const [old, other] = [2, 5].map((number) => dot(vectors[3], vectors[number]));
  assert.ok(old > 0.5 && old > other + 0.3, `the two berths are near each other: ${old}, ${other}`);
});

test('links lead from records to what belongs to them', () => {
  const keys = texts('ENTE', 'ENTK');
  assert.deepEqual(keys, [...keys].sort(byBytes));
  const tops = pieces('ENRE').map(([from, to]) => u32s('ENRD').slice(from, to));
  const named = pieces('RENE').map(([from, to]) => u32s('REND').slice(from, to).map((entity) => keys[entity]));
  assert.equal(named.length, given.length);
  assert.deepEqual(named[3], ['odile', 'crane']);
  assert.ok(tops[keys.indexOf('odile')].includes(3) && tops[keys.indexOf('odile')].includes(0));
  const near = pieces('NBRE').map(([from, to]) => [u32s('NBRD').slice(from, to), [...bytes('NBRW').subarray(from, to)]]);
  assert.equal(near.length, given.length);
  for (const [numbers, how] of near) assert.ok(numbers.every((number) => number < given.length) && how.every((value, at) => value <= (how[at - 1] ?? 255)));
  const members = pieces('COME').map(([from, to]) => u32s('COMD').slice(from, to));
  u32s('COMR').forEach((community, number) => assert.ok(community === 2 ** 32 - 1 || members[community].includes(number)));
  assert.equal(bytes('SPND').length, 16 * (u32s('SPNE').at(-1) ?? 0));
});

test('the module writes the same bytes as a native build', async () => {
  const { bytes, reports } = await buildSnapshot({ records: given, topics, entities });
  assert.deepEqual(reports.filter(({ skipped }) => skipped), []);
  assert.ok(file.equals(bytes), `${bytes.length} and ${file.length} bytes`);
});
