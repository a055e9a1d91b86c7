// Real traps: the module runs out of memory, because V8 is told to give an instance 48 MB and no more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--wasm-max-mem-pages=768');
const { Foreword, buildSnapshot } = await import('../../../pkg/entry.node.js');
const { MemoryPool, nameOf } = await import('../../../pkg/storage/index.js');
const { withForeword } = await import('../../../pkg/workers/index.js');

// Nothing may escape into the event loop: a program ends of it.
const escaped = [];
process.on('unhandledRejection', (error) => escaped.push(error));
process.on('uncaughtException', (error) => escaped.push(error));
const calm = async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(escaped, []);
};

const now = '2025-12-01';
const nonce = 'testnonce0001';
const huge = () => 'x'.repeat(60_000_000);
const trapped = (error) => error.name === 'ForewordError' && error.code === 'MODULE_TRAPPED' && error.message.includes('kept');
const { bytes } = await buildSnapshot({
  topics: [{ title: 'Tide table' }],
  records: [
    { id: 'gate', subject: 'user', predicate: 'gate', statement: 'The harbour gate code is heron.' },
    { id: 'tide', statement: 'The tide table for Kiel hangs in the office.' },
    { id: 'boat', statement: 'The pilot boat moors at the eastern pontoon.' },
  ],
});
const ids = async (memory, query) => (await memory.search(query, { now })).evidence.map(({ id }) => id);

test('a change that traps is a typed error, and loses nothing that was loaded or learned', async () => {
  const memory = await Foreword.load(bytes, { nonce });
  memory.remember({ id: 'seat', statement: 'On trains I like a window seat.' });
  memory.supersede('tide', { id: 'tide-2', statement: 'The tide table for Kiel hangs in the pilot house.' });
  memory.forget('boat');
  memory.suppress('user', 'gate');
  memory.addTopic({ title: 'Night watch', aliases: ['dog watch'] });
  const before = { info: memory.info(), recall: await memory.recall('Where does the tide table for Kiel hang?', { now }) };

  assert.throws(() => memory.remember({ id: 'huge', statement: huge() }), trapped);

  assert.deepEqual(memory.info(), before.info, 'counts, revisions and catalog are the same');
  assert.equal((await ids(memory, 'window seat on trains'))[0], 'seat');
  assert.equal((await ids(memory, 'tide table Kiel'))[0], 'tide-2');
  for (const gone of ['tide', 'boat', 'gate', 'huge']) assert.ok(!(await ids(memory, 'tide boat gate pilot harbour')).includes(gone), gone);
  const after = await memory.recall('Where does the tide table for Kiel hang?', { now });
  assert.deepEqual(after, before.recall, 'to the byte');
  const reloaded = await Foreword.load(memory.compact(), { nonce });
  assert.equal((await ids(reloaded, 'tide table Kiel'))[0], 'tide-2');
  reloaded.dispose();
  memory.dispose();
  await calm();
});

test('a recall whose prompt no instance survives still resolves, with the catalog, at once', async () => {
  const memory = await Foreword.load(bytes, { nonce });
  memory.addTopic({ title: 'Night watch' });
  const begun = performance.now();
  const result = await memory.recall(huge(), { now });
  assert.ok(performance.now() - begun < 4000, 'it does not wait for the deadline');
  assert.equal(result.plan.shouldRetrieve, false);
  assert.match(result.block.catalog, /Night watch/);
  assert.equal(result.block.recall, '');
  assert.ok(result.degraded.some(({ part, message }) => part === 'module' && /trapped/.test(message)));
  assert.equal((await memory.recall('Where does the tide table for Kiel hang?', { now })).evidence[0].id, 'tide');
  await assert.rejects(memory.search(huge()), trapped);
  memory.dispose();
  await calm();
});

test('every memory of the instance goes on, and so do the recalls that were on their way', async () => {
  const asked = [];
  const release = [];
  const slow = {
    id: 'slow',
    topics: '*',
    timeoutMs: 3000,
    search({ query }) {
      asked.push(query);
      // The first time it settles only after the trap; then at once.
      return asked.length > 1 ? [{ id: 'late', text: 'The tide table for Kiel was printed in Lübeck.' }] : new Promise((resolve, reject) => release.push(resolve, reject));
    },
  };
  const one = await Foreword.load(bytes, { nonce, providers: [slow] });
  const two = await Foreword.empty({ nonce });
  two.remember({ id: 'rope', statement: 'The spare rope lies in locker nine.' });
  const onItsWay = one.recall('Where does the tide table for Kiel hang?', { now });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(asked.length, 1);

  assert.throws(() => two.remember({ id: 'huge', statement: huge() }), trapped);

  const result = await onItsWay;
  assert.equal(result.evidence[0].id, 'tide');
  assert.ok(result.degraded.some(({ part }) => part === 'module'));
  assert.equal(asked.length, 2, 'the fresh instance asked again');
  assert.equal((await ids(two, 'spare rope locker'))[0], 'rope');
  release[0]([{ id: 'x', text: 'too late' }]);
  await calm();
  assert.equal((await ids(one, 'tide table Kiel'))[0], 'tide');
  one.dispose();
  two.dispose();
  await calm();
});

test('more than the module’s memory holds does not get into it', async () => {
  let calls = 0;
  const memory = await Foreword.load(bytes, {
    nonce,
    providers: [{
      id: 'flood',
      topics: '*',
      search: () => (calls++ === 0 ? Array.from({ length: 1000 }, (_, id) => ({ id, text: 'ä'.repeat(65_000), title: 'ö'.repeat(65_000), kind: 'ü'.repeat(65_000), uri: 'é'.repeat(65_000), subject: 'è'.repeat(65_000), predicate: 'ê'.repeat(65_000) })) : []),
    }],
  });
  const result = await memory.recall('Where does the tide table for Kiel hang?', { now });
  assert.equal(result.evidence[0].id, 'tide');
  assert.equal(calls, 1);
  assert.deepEqual(result.degraded, []);
  const { results, rejected } = result.providers.find(({ id }) => id === 'flood');
  assert.equal(results + rejected, 1000);
  memory.dispose();
  await calm();
});

test('a request goes on whatever traps: somebody else’s change while it is recalled for, or its own words', async () => {
  const memory = await Foreword.load(bytes, { nonce, providers: [{ id: 'slow', topics: '*', search: () => new Promise((resolve) => setTimeout(resolve, 30, [])) }] });
  const faults = [];
  const sent = [];
  const ask = withForeword({ memory, scope: () => ({}), recall: { now, providers: ['slow'] }, maxBytes: 1 << 27, timeoutMs: 5000, onError: (error) => faults.push(error), forward: async (request) => (sent.push(await request.text()), new Response()) });
  const post = (content) => new Request('http://proxy.example/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ messages: [{ role: 'user', content }] }) });
  const question = 'Where does the tide table for Kiel hang?';
  const onItsWay = ask(post(question));
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.throws(() => memory.remember({ id: 'huge', statement: huge() }), trapped);
  await onItsWay;
  await ask(post(huge()));
  await ask(post(question));
  const content = sent.map((text) => JSON.parse(text).messages[0].content);
  for (const at of [0, 2]) assert.match(content[at], /hangs in the office[^]*Kiel hang\?$/);
  assert.ok(content[1].endsWith(huge()));
  assert.deepEqual(faults, []);
  memory.dispose();
  await calm();
});

test('a provider that settles after dispose harms nothing', async () => {
  let settle;
  const memory = await Foreword.load(bytes, { nonce, providers: [{ id: 'slow', topics: '*', search: () => new Promise((...both) => (settle = both)) }] });
  const onItsWay = memory.recall('Where does the tide table for Kiel hang?', { now });
  await new Promise((resolve) => setTimeout(resolve, 20));
  memory.dispose();
  memory.dispose();
  settle[1](new Error('late'));
  assert.equal((await onItsWay).evidence[0].id, 'tide');
  await assert.rejects(memory.recall('x'), { code: 'INVALID_REQUEST' });
  await calm();
});

test('a build that traps is a typed error, and no memory notices', async () => {
  const memory = await Foreword.load(bytes, { nonce });
  await assert.rejects(buildSnapshot({ records: [{ id: 'huge', statement: huge() }] }), trapped);
  assert.equal(memory.info().records, 3);
  assert.equal((await ids(memory, 'tide table Kiel'))[0], 'tide');
  memory.dispose();
  await calm();
});

test('a stack that runs over inside the module is a trap like any other', async () => {
  const memory = await Foreword.load(bytes, { nonce });
  memory.remember({ id: 'seat', statement: 'On trains I like a window seat.' });
  let faults = 0;
  const deep = () => {
    try {
      deep();
    } catch {
      // From here upwards the stack is shorter by a frame at each attempt, until the call fits.
    }
    if (faults < 5) {
      try {
        memory.info();
      } catch (error) {
        if (error.code === 'MODULE_TRAPPED') faults++;
      }
    }
  };
  deep();
  assert.ok(faults > 0, 'at some depth the stack ends inside the module');
  assert.equal(memory.info().learned, 1);
  assert.equal((await ids(memory, 'window seat on trains'))[0], 'seat');
  memory.dispose();
  await calm();
});

test('calls that have become longer than all that is known are not kept beyond a compaction, and nothing is lost by it', async () => {
  const memory = await Foreword.load(bytes, { nonce });
  for (let n = 0; n < 2000; n++) memory.remember({ id: 'count', statement: `The pilot boat has been out ${n} times this year.` });
  memory.forget('boat');
  memory.suppress('user', 'gate');
  memory.addTopic({ title: 'Night watch', aliases: ['dog watch'] });
  const { learned } = memory.size;
  const snapshot = memory.compact();
  assert.ok(learned > snapshot.length && memory.size.learned === 0, `${learned} characters, ${snapshot.length} bytes`);
  snapshot.fill(0);
  memory.remember({ id: 'seat', statement: 'On trains I like a window seat.' });
  const before = await memory.recall('How many times has the pilot boat been out this year?', { now });
  assert.match(before.block.recall, /1999 times/);

  for (let traps = 0; traps < 2; traps++) {
    assert.throws(() => memory.remember({ id: 'huge', statement: huge() }), trapped);
    const after = await memory.recall('How many times has the pilot boat been out this year?', { now });
    assert.equal(after.block.text, before.block.text);
    assert.equal((await ids(memory, 'window seat on trains'))[0], 'seat');
    for (const gone of ['boat', 'gate']) assert.ok(!(await ids(memory, 'tide boat gate pilot harbour')).includes(gone), gone);
    assert.ok(memory.info().catalog.topics.some(({ title }) => title === 'Night watch'));
  }
  memory.dispose();
  await calm();
});

test('a pool goes on after a trap, and gives up an instance that has grown beyond its bound', async () => {
  const kept = new Map();
  const store = { get: async (name) => kept.get(name), put: async (name, given) => void kept.set(name, given), delete: async (name) => void kept.delete(name) };
  kept.set(nameOf('a'), bytes).set(nameOf('b'), bytes);
  const pool = new MemoryPool({ Foreword, store, maxBytes: 4 << 20 });
  const found = async (tenant) => (await pool.tenant(tenant).search('tide table Kiel', { now })).evidence[0]?.id;
  assert.deepEqual([await found('a'), await found('b')], ['tide', 'tide']);
  await assert.rejects(pool.use('a', (memory) => memory.remember({ id: 'huge', statement: huge() })), trapped);
  assert.deepEqual([await found('a'), await found('b'), kept.get(nameOf('a')) === bytes], ['tide', 'tide', true]);
  assert.equal(pool.stats().renewals, 1);

  const log = { id: 'log', statement: 'The log of the pilot boat. '.repeat(100_000) };
  await assert.rejects(pool.use('b', (memory) => memory.remember(log)), { code: 'TOO_LARGE' });
  const { renewals, memoryBytes } = pool.stats();
  assert.ok(renewals > 1 && memoryBytes <= 4 << 20, JSON.stringify(pool.stats()));
  assert.deepEqual([await found('a'), await found('b')], ['tide', 'tide'], 'what was in the store');
  await calm();
});
