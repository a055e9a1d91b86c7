// Tenants' memories where they are kept in production: R2 and KV in workerd, IndexedDB and OPFS in browsers.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { browse, open, printed, project, put, serve } from './lab.mjs';

const { dir } = await project();
const shared = (entry, storage) => `
import { Foreword, buildSnapshot } from '${entry}';
import { MemoryPool, nameOf } from '${storage}';

const check = (truth, message) => { if (!truth) throw new Error(message); };
const codeOf = (promise) => promise.then(() => 'none', (error) => error.code);

/** Writes tenants' snapshots of 10 records and up to as many more as said, asks them interleaved in a small pool, teaches, damages and deletes. */
export async function tryOut(store, { tenants, recalls, maxBytes, upTo = 300 }) {
  let total = 0;
  for (let n = 0; n < tenants; n++) {
    const records = Array.from({ length: 10 + ((n * 37) % upTo) }, (_, at) => ({ id: 't' + n + '/' + at, statement: 'The harbour crane ' + at + ' of t' + n + ' was painted by crew ' + ((at * 7) % 31) + '.' }));
    const { bytes } = await buildSnapshot({ records });
    total += bytes.length;
    await store.put(nameOf('t' + n), bytes);
  }
  const pool = new MemoryPool({ Foreword, store, maxBytes });
  let [seed, taken, found] = [42, 0, 0];
  const random = (below) => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 8) % below;
  for (let round = 0; round < recalls / 4; round++) {
    await Promise.all(Array.from({ length: 4 }, async () => {
      const n = random(tenants);
      const { evidence, block, degraded } = await pool.tenant('t' + n).recall('Which crew painted the harbour crane 7 of t' + ((n + 1) % tenants) + '?');
      check(degraded.length === 0, JSON.stringify(degraded));
      for (const { id } of evidence) check(id.startsWith('t' + n + '/'), id + ' for t' + n);
      for (const [, owner] of block.recall.matchAll(/of (t[0-9]+) was/g)) check(owner === 't' + n, owner + ' in the block for t' + n);
      if (evidence.length) found++;
      taken = Math.max(taken, pool.stats().memoryBytes);
    }));
  }
  check(taken <= maxBytes, taken + ' bytes taken');
  check(total < maxBytes || pool.stats().evictions > 0, 'something was let go of');

  for (const key of ['../t1', 'T1', 't1/', 'ť1', 't%31']) {
    const { evidence } = await pool.tenant(key).search('harbour crane 7');
    check(evidence.length === 0, key + ' sees ' + evidence[0]?.id);
  }
  await pool.use('../t1', (memory) => memory.remember({ id: 'mine', statement: 'On trains I like a window seat.' }));
  const again = new MemoryPool({ Foreword, store, maxBytes });
  check((await again.tenant('../t1').search('window seat on trains')).evidence[0]?.id === 'mine', 'kept');
  check((await again.tenant('t1').search('window seat on trains')).evidence.every(({ id }) => id.startsWith('t1/')), 'another tenant');
  await store.put(nameOf('t1'), new Uint8Array(3000).fill(7));
  const damaged = await codeOf(again.tenant('t2').recall('x')) + ' ' + await codeOf(new MemoryPool({ Foreword, store, maxBytes }).tenant('t1').recall('x'));
  check(damaged === 'none SNAPSHOT_CORRUPT', damaged);
  await again.delete('../t1');
  check(((await store.get(nameOf('../t1'))) ?? undefined) === undefined, 'deleted');
  await store.delete(nameOf('../t1'));
  const wrong = await codeOf(Promise.resolve().then(() => store.get('../x')));
  check(wrong === 'INVALID_REQUEST', wrong);
  check(found > recalls / 2, found + ' recalls found something');
  return { total, taken, found, ...pool.stats() };
}
`;

test('workerd: R2 and KV', async (t) => {
  await put(dir, {
    'shared.js': shared('foreword', 'foreword/storage'),
    'worker.js': `
import { kv, r2 } from 'foreword/storage';
import { tryOut } from './shared.js';
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    try {
      // 82 MiB of snapshots: not all of them fit.
      if (pathname === '/r2') return Response.json(await tryOut(r2(env.BUCKET), { tenants: 500, recalls: 10_000, maxBytes: 64 << 20, upTo: 700 }));
      return Response.json(await tryOut(kv(env.KV), { tenants: 60, recalls: 600, maxBytes: 8 << 20 }));
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  },
};
`,
  });
  const { build } = await import('esbuild');
  await build({ entryPoints: [join(dir, 'worker.js')], bundle: true, format: 'esm', conditions: ['workerd', 'worker'], loader: { '.wasm': 'copy' }, assetNames: '[name]', outfile: join(dir, 'out/worker.js'), logLevel: 'error' });
  const { Miniflare, convertV4MiniflareOptions } = await import('miniflare');
  const worker = new Miniflare(convertV4MiniflareOptions({
    compatibilityDate: '2026-11-01',
    r2Buckets: ['BUCKET'],
    kvNamespaces: ['KV'],
    modules: [
      { type: 'ESModule', path: 'worker.js', contents: await readFile(join(dir, 'out/worker.js'), 'utf8') },
      { type: 'CompiledWasm', path: 'foreword_bg.wasm', contents: await readFile(join(dir, 'out/foreword_bg.wasm')) },
    ],
  }));
  after(() => worker.dispose());
  for (const store of ['r2', 'kv']) {
    const response = await worker.dispatchFetch(`http://localhost/${store}`);
    const said = await response.text();
    assert.equal(response.status, 200, said);
    t.diagnostic(`${store}: ${said}`);
  }
});

const page = (name) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
import { ${name} } from './node_modules/foreword/storage/index.js';
import { tryOut } from './local.js';
globalThis.printed = JSON.stringify(await tryOut(${name}(), { tenants: 20, recalls: 100, maxBytes: 4 << 20 }));
</script>`;

for (const which of ['chrome', 'firefox']) {
  test(`${which}: IndexedDB and OPFS`, { skip: which === 'firefox' && process.env.FOREWORD_FIREFOX === '' && 'FIREFOX WAS NOT TO BE HAD ON THIS MACHINE' }, async (t) => {
    await put(dir, {
      'local.js': shared('./node_modules/foreword/entry.default.js', './node_modules/foreword/storage/index.js'),
      'indexedDb.html': page('indexedDb'),
      'opfs.html': page('opfs'),
    });
    const [browser, origin] = [await browse(which), await serve({ '/': dir })];
    for (const name of ['indexedDb', 'opfs']) {
      const said = await printed(await open(browser, `${origin}/${name}.html`));
      assert.ok(JSON.parse(said).found > 50, said);
      t.diagnostic(`${name}: ${said}`);
    }
  });
}
