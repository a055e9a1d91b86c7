// Tenants' memories in a pool, over files and over a Map.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Foreword, buildSnapshot } from '../../../pkg/entry.node.js';
import { files } from '../../../pkg/storage/files.js';
import { MemoryPool, nameOf } from '../../../pkg/storage/index.js';

const MIB = 1 << 20;
const code = (expected) => (error) => error.name === 'ForewordError' && error.code === expected;
const ids = async (memory, query) => (await memory.search(query)).evidence.map(({ id }) => id);

/** A store that counts, and is slow, damaged or unwilling when it is told to be. */
function store(delay = () => Promise.resolve()) {
  const kept = new Map();
  const calls = { get: 0, put: 0 };
  return {
    kept,
    calls,
    refuse: false,
    async get(name) {
      calls.get++;
      await delay();
      return kept.get(name);
    },
    async put(name, bytes) {
      calls.put++;
      await delay();
      if (this.refuse) throw new Error('disk full');
      kept.set(name, bytes);
    },
    async delete(name) {
      kept.delete(name);
    },
  };
}

async function snapshot(tenant, records = 20) {
  const { bytes } = await buildSnapshot({
    records: Array.from({ length: records }, (_, n) => ({ id: `${tenant}/${n}`, statement: `The harbour crane ${n} of ${tenant} was painted by crew ${(n * 7) % 31}.` })),
  });
  return bytes;
}

test('names: one for each key, the same on file systems that fold case or compose accents, and none that leads elsewhere', () => {
  const keys = ['a', 'A', 'ä', 'a\u0308', 'Ä', '../a', '..', '.', '/', '\\', 'a/b', 'a%2fb', 'a%2Fb', '%', '_a', 'con', 'a.', 'a ', ' a', 'a\0', '日本', '👩‍🚀', '__proto__', 'x'.repeat(199)];
  const names = keys.map(nameOf);
  assert.equal(new Set(names.map((name) => name.normalize('NFC').toLowerCase())).size, keys.length);
  for (const name of names) assert.match(name, /^_[a-z0-9_%-]+$/);
  for (const refused of ['', undefined, null, 7, {}, '\ud800', 'a\udc00', 'x'.repeat(200), '日'.repeat(30)]) assert.throws(() => nameOf(refused), code('INVALID_REQUEST'), `${refused}`);
});

test('files: whole or not at all, and never outside their folder', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'foreword-')), 'inner');
  after(() => rm(join(folder, '..'), { recursive: true, force: true }));
  const kept = files(folder);
  assert.equal(await kept.get('a'), undefined);
  await kept.delete('a');
  for (const name of ['../a', '', '.', 'a/b', 'A', 'a.b', undefined]) {
    await assert.rejects(async () => kept.get(name), code('INVALID_REQUEST'), `${name}`);
    await assert.rejects(async () => kept.put(name, new Uint8Array(1)), code('INVALID_REQUEST'));
    await assert.rejects(async () => kept.delete(name), code('INVALID_REQUEST'));
  }
  await Promise.all([1, 2, 3].map((n) => kept.put(nameOf('../a'), new Uint8Array(1000).fill(n))));
  const bytes = await kept.get(nameOf('../a'));
  assert.ok(bytes.length === 1000 && bytes.every((byte) => byte === bytes[0]));
  assert.deepEqual(await readdir(folder), [`${nameOf('../a')}.fwd`], 'nothing half written is left');
  assert.deepEqual(await readdir(join(folder, '..')), ['inner']);

  const pool = new MemoryPool({ Foreword, store: kept });
  await pool.use('anna', (memory) => memory.remember({ id: 'seat', statement: 'On trains I like a window seat.' }));
  const other = new MemoryPool({ Foreword, store: kept });
  assert.deepEqual(await ids(other.tenant('anna'), 'window seat on trains'), ['seat']);
  assert.deepEqual(await ids(other.tenant('Anna'), 'window seat on trains'), [], 'another tenant');
  await writeFile(join(folder, `${nameOf('anna')}.fwd`), bytes);
  await assert.rejects(new MemoryPool({ Foreword, store: kept }).tenant('anna').recall('x'), code('SNAPSHOT_CORRUPT'));
});

test('a damaged snapshot is a typed error each time it is asked for, until it is mended; the others go on', async () => {
  const kept = store();
  const bytes = await snapshot('a');
  kept.kept.set(nameOf('b'), await snapshot('b'));
  const pool = new MemoryPool({ Foreword, store: kept });
  for (const at of [0, 40, bytes.length >> 1, bytes.length - 1]) {
    const damaged = bytes.slice();
    damaged[at] ^= 1;
    kept.kept.set(nameOf('a'), damaged);
    const both = await Promise.allSettled([pool.tenant('a').recall('crane'), pool.tenant('a').search('crane')]);
    for (const { reason } of both) assert.equal(reason?.name, 'ForewordError', `byte ${at}`);
    assert.deepEqual([pool.stats().loaded, pool.stats().bytes], [0, 0], 'nothing of it is kept');
  }
  kept.kept.set(nameOf('a'), bytes.slice(0, 50));
  await assert.rejects(pool.tenant('a').recall('crane'), code('SNAPSHOT_CORRUPT'));
  kept.kept.set(nameOf('a'), bytes);
  assert.match((await ids(pool.tenant('a'), 'harbour crane 7'))[0], /^a\//);
  assert.match((await ids(pool.tenant('b'), 'harbour crane 7'))[0], /^b\//);
});

test('concurrent loads of one tenant happen once', async () => {
  const kept = store(() => new Promise((resolve) => setTimeout(resolve, 5)));
  kept.kept.set(nameOf('a'), await snapshot('a'));
  const pool = new MemoryPool({ Foreword, store: kept });
  await Promise.all(Array.from({ length: 50 }, () => pool.tenant('a').search('crane')));
  assert.deepEqual([kept.calls.get, pool.stats().loads, pool.stats().hits], [1, 1, 49]);
});

test('what was learned is in the store when the use ends; where the store refuses, it is not known, and everybody who taught it is told', async () => {
  const kept = store(() => new Promise((resolve) => setTimeout(resolve, 1)));
  const pool = new MemoryPool({ Foreword, store: kept });
  const teach = (n) => pool.use('a', (memory) => memory.remember({ id: `r${n}`, statement: `Buoy ${n} is lit at dusk.` }));
  await Promise.all(Array.from({ length: 20 }, (_, n) => teach(n)));
  assert.equal((await Foreword.load(kept.kept.get(nameOf('a')))).info().records, 20);
  const puts = kept.calls.put;
  await pool.tenant('a').recall('Which buoy is lit?');
  await pool.use('a', (memory) => memory.search('buoy'));
  assert.equal(kept.calls.put, puts, 'asking writes nothing');

  kept.refuse = true;
  const [reading, ...teaching] = await Promise.allSettled([pool.tenant('a').search('buoy'), teach(20), teach(21)]);
  assert.equal(reading.status, 'fulfilled');
  for (const { reason } of teaching) assert.equal(reason?.message, 'disk full');
  kept.refuse = false;
  assert.equal(await pool.use('a', (memory) => memory.info().records + memory.info().learned), 20);
  await assert.rejects(pool.use('a', (memory) => (memory.remember({ id: 'kept', statement: 'The gate is open.' }), Promise.reject(new Error('mine')))), /mine/);
  assert.equal((await Foreword.load(kept.kept.get(nameOf('a')))).info().records, 21, 'what was learned before the failure is kept');

  await pool.delete('a');
  assert.deepEqual([kept.kept.size, pool.stats().bytes], [0, 0]);
  assert.equal(await pool.use('a', (memory) => memory.info().records), 0);
});

test('a memory in use is not let go of; a load waits for room, and says so if there is none', async () => {
  const kept = store();
  const bytes = await snapshot('big', 1500);
  for (const name of 'abcd') kept.kept.set(nameOf(name), bytes);
  const pool = new MemoryPool({ Foreword, store: kept, maxBytes: 4 * MIB, waitMs: 300 });
  let release;
  const held = pool.use('a', async (memory) => {
    await new Promise((resolve) => (release = resolve));
    return (await ids(memory, 'harbour crane 7')).length;
  });
  const another = new Promise((resolve) => pool.use('b', () => new Promise((go) => resolve(go))));
  const go = await another;
  await assert.rejects(pool.tenant('c').search('crane'), code('TOO_LARGE'));
  const waiting = pool.tenant('d').search('harbour crane 7');
  setTimeout(go, 50);
  assert.ok((await waiting).evidence.length > 0, 'what became free was given to who waited');
  release();
  assert.ok((await held) > 0, 'still there');
  kept.kept.set(nameOf('huge'), await snapshot('huge', 5000));
  await assert.rejects(pool.tenant('huge').search('crane'), code('TOO_LARGE'));
  pool.dispose();
  assert.deepEqual([pool.stats().loaded, pool.stats().bytes], [0, 0]);
});

test('a store that never answers is not waited for, and the next one asks it again', async () => {
  const kept = store();
  const get = kept.get.bind(kept);
  kept.kept.set(nameOf('a'), await snapshot('a'));
  kept.get = () => ((kept.get = get), new Promise(() => {}));
  const pool = new MemoryPool({ Foreword, store: kept, waitMs: 30 });
  const both = await Promise.allSettled([pool.tenant('a').search('crane'), pool.tenant('a').search('crane')]);
  for (const { reason } of both) assert.equal(reason?.code, 'TIMEOUT');
  assert.equal((await ids(pool.tenant('a'), 'harbour crane 7')).length > 0, true);

  const put = kept.put.bind(kept);
  kept.put = () => ((kept.put = put), new Promise(() => {}));
  const teach = (id) => pool.use('a', (memory) => memory.remember({ id, statement: `Buoy ${id} is lit at dusk.` }));
  await assert.rejects(teach('lost'), code('TIMEOUT'));
  await teach('kept');
  assert.deepEqual((await ids(new MemoryPool({ Foreword, store: kept }).tenant('a'), 'buoy lit at dusk')).filter((id) => !id.startsWith('a/')), ['kept']);
  assert.equal(pool.stats().bytes > 0, true);
});

test('loading is part of what a recall may take', async () => {
  const kept = store(() => new Promise((resolve) => setTimeout(resolve, 60)));
  kept.kept.set(nameOf('a'), await snapshot('a'));
  const slow = { id: 'slow', search: () => new Promise(() => {}) };
  const pool = new MemoryPool({ Foreword, store: kept, providers: [slow] });
  const { evidence, degraded, providers } = await pool.tenant('a').search('harbour crane 7', { deadlineMs: 200, providers: ['slow'] });
  assert.ok(evidence.length > 0);
  assert.deepEqual(degraded.map(({ part }) => part), ['deadline', 'provider']);
  const { elapsedMs } = providers.find(({ id }) => id === 'slow');
  assert.ok(elapsedMs < 150, `${elapsedMs} ms of 200, of which loading took 60`);
});

test('a pool takes numbers for its bounds, and waits for ever if it is told to', async () => {
  const given = { Foreword, store: store() };
  for (const wrong of [{ maxBytes: MIB }, { maxBytes: '64000000' }, { waitMs: NaN }, { waitMs: 0 }, { maxAgeMs: -1 }, { maxAgeMs: null }]) assert.throws(() => new MemoryPool({ ...given, ...wrong }), code('INVALID_CONFIG'));
  const kept = store(() => new Promise((resolve) => setTimeout(resolve, 10)));
  kept.kept.set(nameOf('a'), await snapshot('a'));
  assert.ok((await ids(new MemoryPool({ Foreword, store: kept, waitMs: Infinity }).tenant('a'), 'harbour crane 7')).length > 0);
});

test('a snapshot that somebody else wrote is seen after maxAgeMs', async () => {
  const kept = store();
  const pool = new MemoryPool({ Foreword, store: kept, maxAgeMs: 0 });
  assert.deepEqual(await ids(pool.tenant('a'), 'harbour crane 7'), []);
  kept.kept.set(nameOf('a'), await snapshot('a'));
  assert.match((await ids(pool.tenant('a'), 'harbour crane 7'))[0], /^a\//);
});

test('500 tenants within 64 MiB: the bound is kept, and in 10,000 interleaved recalls none sees another’s', async (t) => {
  const kept = store();
  let seed = 42;
  const random = (below) => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 8) % below;
  let total = 0;
  for (let n = 0; n < 500; n++) {
    const bytes = await snapshot(`t${n}`, 10 + ((n * 7919) % 700));
    total += bytes.length;
    kept.kept.set(nameOf(`t${n}`), bytes);
  }
  assert.ok(total > 80 * MIB, `${total} bytes do not fit`);
  const pool = new MemoryPool({ Foreword, store: kept, maxBytes: 64 * MIB });
  let [most, found] = [0, 0];
  for (let round = 0; round < 1250; round++) {
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        // Some are asked for much more often than others.
        const n = Math.min(random(500), random(500));
        const { evidence, block, degraded } = await pool.tenant(`t${n}`).recall(`Which crew painted the harbour crane 7 of t${(n + 1) % 500}?`);
        for (const { id } of evidence) assert.ok(id.startsWith(`t${n}/`), `${id} for t${n}`);
        for (const [, owner] of block.recall.matchAll(/of (t\d+) was/g)) assert.equal(owner, `t${n}`);
        assert.deepEqual(degraded, []);
        if (evidence.length) found++;
        const { bytes, memoryBytes } = pool.stats();
        assert.ok(memoryBytes <= 64 * MIB, `${memoryBytes} bytes`);
        assert.ok(bytes <= memoryBytes, `${bytes} counted, ${memoryBytes} taken`);
        most = Math.max(most, memoryBytes);
      }),
    );
  }
  assert.ok(found > 5000, `${found} of 10,000 found something`);
  const stats = pool.stats();
  assert.ok(stats.evictions > 1000 && stats.loaded > 100, JSON.stringify(stats));
  t.diagnostic(`${(total / MIB).toFixed(0)} MiB of snapshots; at most ${(most / MIB).toFixed(1)} MiB taken; ${JSON.stringify(stats)}`);
});
