// Whatever a caller gives to whatever method: an answer, or a ForewordError that is not a trap; and the memory goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Foreword, buildSnapshot, checkCitations } from '../../../pkg/entry.node.js';

const now = '2025-12-01';
const { bytes } = await buildSnapshot({ records: [{ id: 'seat', statement: 'On trains I like a window seat in the quiet coach.' }] });
const OWN = new Error('no');
const refuse = () => {
  throw OWN;
};
const throwing = () => new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse });
const cyclic = () => {
  const value = {};
  value.self = value;
  return value;
};
const getter = (name) => ({ get [name]() { throw OWN; } });
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
};
const handedOver = () => {
  const given = bytes.slice();
  structuredClone(given, { transfer: [given.buffer] });
  return given;
};
const unsayable = () => new Proxy({}, { ownKeys: () => { throw { toString: null }; } });
const junk = {
  undefined: () => undefined, null: () => null, true: () => true, zero: () => 0, minus: () => -1, fraction: () => 1.5, nan: () => NaN, infinity: () => Infinity, bigint: () => 3n,
  symbol: () => Symbol('s'), empty: () => '', surrogate: () => '\ud800', long: () => 'seat '.repeat(50_000), object: () => ({}), cyclic, throwing, unsayable,
  function: () => () => {}, array: () => [], nested: () => [[[{}]]], date: () => new Date(NaN), bytes: () => new Uint8Array(9), map: () => new Map([[1, 2]]), frozen: () => Object.freeze({ a: 1 }),
  revoked, 'revoked inside': () => [revoked()], 'getter inside': () => ({ scope: getter('tenant'), id: 'g', statement: 'x', title: 'x', name: 'x', search() {} }), 'handed over': handedOver, 'bytes in name': () => Object.create(Uint8Array.prototype), 'signal in name': () => Object.create(AbortSignal.prototype),
};
/** Which the language itself does not go through. */
const LOST = new Set(['revoked', 'revoked inside', 'handed over', 'bytes in name']);
const REQUEST = ['signal', 'now', 'asOf', 'scope', 'history', 'limit', 'kinds', 'providers', 'nonce', 'deadlineMs', 'about', 'attribute', 'mode', 'turn'];
const PAGE = ['now', 'asOf', 'scope', 'limit', 'cursor', 'kinds', 'history'];
const RECORD = ['id', 'statement', 'scope', 'source', 'created', 'expires', 'status', 'tags', 'supersedes', 'importance', 'entities', 'kind'];
const each = (keys, call) => Object.fromEntries(keys.map((key) => [key, (memory, value) => call(memory, { [key]: value })]));
/** What is awaited while it is read may fail with an error of its own, as a download may: that error arrives. */
const SOURCE = ', a source';
const calls = {
  recall: (memory, value) => memory.recall(value),
  search: (memory, value) => memory.search(value),
  'recall, options': (memory, value) => memory.recall('window seat', value),
  'search, options': (memory, value) => memory.search('window seat', value),
  'prepare, turn': (memory, value) => memory.prepare(value, 'window seat'),
  'prepare, prompt': (memory, value) => memory.prepare(1, value),
  'prepare, options': (memory, value) => memory.prepare(1, 'window seat', value),
  browse: (memory, value) => memory.browse(value),
  themes: (memory, value) => memory.themes(value),
  remember: (memory, value) => memory.remember(value),
  'remember, list': (memory, value) => memory.remember([value]),
  forget: (memory, value) => memory.forget(value),
  'supersede, id': (memory, value) => memory.supersede(value, { id: 'n', statement: 'x' }),
  'supersede, record': (memory, value) => memory.supersede('none', value),
  'suppress, subject': (memory, value) => memory.suppress(value, 'p'),
  'suppress, predicate': (memory, value) => memory.suppress('s', value),
  addTopic: (memory, value) => memory.addTopic(value),
  'checkCitations, answer': (memory, value) => checkCitations(value, { block: { included: [] } }),
  'checkCitations, result': (memory, value) => checkCitations('[seat]', value),
  'checkCitations, block': (memory, value) => checkCitations('[seat]', { block: value }),
  'checkCitations, ids': (memory, value) => checkCitations('[seat]', { block: { included: [value] } }),
  [`load${SOURCE}`]: (memory, value) => Foreword.load(value),
  'load, options': (memory, value) => Foreword.load(bytes, value),
  'load, config': (memory, value) => Foreword.load(bytes, { config: value }),
  'load, providers': (memory, value) => Foreword.load(bytes, { providers: value }),
  'load, provider': (memory, value) => Foreword.load(bytes, { providers: [value] }),
  'load, nonce': (memory, value) => Foreword.load(bytes, { nonce: value }),
  'load, embedder': (memory, value) => Foreword.load(bytes, { embedder: value }),
  'load, embedder id': (memory, value) => Foreword.load(bytes, { embedder: { id: value, dimensions: 384, embed: () => [] } }),
  'load, embedder dimensions': (memory, value) => Foreword.load(bytes, { embedder: { id: 'e', dimensions: value, embed: () => [] } }),
  'load, semantic': (memory, value) => Foreword.load(bytes, { semantic: value }),
  'load, planner': (memory, value) => Foreword.load(bytes, { planner: value }),
  'load, reranker': (memory, value) => Foreword.load(bytes, { reranker: value }),
  'load, countTokens': (memory, value) => Foreword.load(bytes, { countTokens: value }),
  'load, table': (memory, value) => Foreword.load(bytes, { staticTable: value }),
  buildSnapshot: (memory, value) => buildSnapshot(value),
  'buildSnapshot, index': (memory, value) => buildSnapshot({ index: value }),
  'buildSnapshot, table': (memory, value) => buildSnapshot({ staticTable: value }),
  'buildSnapshot, slice': (memory, value) => buildSnapshot({ sliceMs: value }),
  'buildSnapshot, progress': (memory, value) => buildSnapshot({ onProgress: value }),
  [`buildSnapshot, topics${SOURCE}`]: (memory, value) => buildSnapshot({ topics: value }),
  [`buildSnapshot, topic${SOURCE}`]: (memory, value) => buildSnapshot({ topics: [value] }),
  [`buildSnapshot, entity${SOURCE}`]: (memory, value) => buildSnapshot({ entities: [value] }),
  [`buildSnapshot, records${SOURCE}`]: (memory, value) => buildSnapshot({ records: value }),
  [`buildSnapshot, record${SOURCE}`]: (memory, value) => buildSnapshot({ records: [value] }),
  [`buildSnapshot, notes${SOURCE}`]: (memory, value) => buildSnapshot({ notes: value }),
  [`buildSnapshot, note${SOURCE}`]: (memory, value) => buildSnapshot({ notes: [value] }),
  ...Object.fromEntries(Object.entries(each(REQUEST, (memory, options) => memory.recall('window seat', options))).map(([key, call]) => [`recall, ${key}`, call])),
  ...Object.fromEntries(Object.entries(each(PAGE, (memory, options) => memory.browse(options))).map(([key, call]) => [`browse, ${key}`, call])),
  ...Object.fromEntries(Object.entries(each(RECORD, (memory, record) => memory.remember({ id: 'r', statement: 'x', ...record }))).map(([key, call]) => [`remember, ${key}`, call])),
};

for (const [name, call] of Object.entries(calls)) {
  test(`junk: ${name}`, async () => {
    const faults = [];
    for (const [kind, make] of Object.entries(junk)) {
      const memory = await Foreword.load(bytes);
      try {
        await call(memory, make());
      } catch (error) {
        const typed = error?.name === 'ForewordError' && typeof error.code === 'string' && error.code !== 'MODULE_TRAPPED';
        if (!typed && !(name.endsWith(SOURCE) && (error === OWN || (error instanceof TypeError && LOST.has(kind))))) faults.push(`${kind}: ${error?.code ?? ''} ${error?.message ?? typeof error}`);
      }
      const { evidence } = await memory.search('Which seat on trains?', { now });
      if (evidence[0]?.id !== 'seat') faults.push(`${kind}: the memory does not go on`);
      memory.dispose();
    }
    assert.deepEqual(faults, []);
  });
}
