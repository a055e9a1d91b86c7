// The shipped providers against the real thing: PostgreSQL with pgvector, D1 in workerd, an HTTP server, folders and directory handles.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Foreword } from '../../../pkg/entry.node.js';
import { d1, schema as d1Schema } from '../../../pkg/providers/d1.js';
import { folder as notesOf } from '../../../pkg/providers/folder.js';
import { http } from '../../../pkg/providers/http.js';
import { markdown } from '../../../pkg/providers/markdown.js';
import { postgres, schema } from '../../../pkg/providers/postgres.js';
import { browse, folder, open, printed, project, put, root, serve } from './lab.mjs';

const rows = [
  { id: 'seat', text: 'On trains Anna likes a window seat in the quiet coach.', scope: { user: 'anna' }, near: [1, 0, 0] },
  { id: 'seat-b', text: 'On trains Bram likes an aisle seat in the bar coach.', scope: { user: 'bram' }, near: [1, 0, 0.1] },
  { id: 'seat-t', text: 'A seat in the train of tenant one.', scope: { user: 'anna', tenant: 'one' }, near: [1, 0.1, 0] },
  { id: 'gate', text: 'The harbour gate opens at noon.', title: 'Harbour gate', updated: '2025-06-01T10:00:00.000Z', kind: 'fact', uri: 'https://example.com/gate', scope: {}, near: [0, 1, 0] },
  { id: 'hostile', text: "Robert'); DROP TABLE memories;-- keeps the seat list.", scope: {}, near: [0, 0, 1] },
];
const ask = (provider, query, scope, limit = 8, signal = new AbortController().signal) => provider.search({ query, limit, scope, reason: 'test' }, { signal });
const idsOf = async (...asked) => (await ask(...asked)).map(({ id }) => id);
const HOSTILE = ["'); DROP TABLE memories;--", '" OR 1=1 --', 'seat* NEAR(coach', '{}[]^:()-', '\\', '$1 $2', '%', 'NOT AND OR', '\u{1f6f6}', ''];

/** What a recall makes of a provider: that its answers are accepted, and which. */
async function recalled(provider, prompt, scope) {
  const memory = await Foreword.empty({ providers: [provider] });
  const { providers, evidence } = await memory.search(prompt, { scope, providers: [provider.id] });
  memory.dispose();
  const { status, rejected, message } = providers.find(({ id }) => id === provider.id);
  assert.deepEqual([status, rejected], ['ok', 0], message);
  return evidence;
}

/** What all databases have in common. */
async function scoped(provider) {
  assert.deepEqual(await idsOf(provider, 'seat', { user: 'anna' }), (await idsOf(provider, 'seat', { user: 'anna' })), 'the same each time');
  const seen = async (scope) => (await idsOf(provider, 'seat', scope)).sort();
  assert.deepEqual(await seen({}), ['hostile']);
  assert.deepEqual(await seen(undefined), ['hostile']);
  assert.deepEqual(await seen({ user: 'anna' }), ['hostile', 'seat']);
  assert.deepEqual(await seen({ user: 'bram' }), ['hostile', 'seat-b']);
  assert.deepEqual(await seen({ user: 'anna', tenant: 'one', project: 'x' }), ['hostile', 'seat', 'seat-t']);
  assert.deepEqual(await seen({ user: "anna' OR '1'='1", tenant: '{"user":"anna"}', '"user"': 'anna' }), ['hostile']);
  assert.equal((await ask(provider, 'seat', { user: 'anna', tenant: 'one' }, 2)).length, 2, 'the limit');
  for (const query of HOSTILE) assert.ok(Array.isArray(await ask(provider, query, { user: 'anna' })), query);
  const [gate] = await ask(provider, 'harbour gate', {});
  assert.deepEqual([gate.id, gate.title, gate.kind, gate.uri, gate.updated, gate.scope], ['gate', 'Harbour gate', 'fact', 'https://example.com/gate', '2025-06-01T10:00:00.000Z', {}]);
  await assert.rejects(ask(provider, 'seat', {}, 8, AbortSignal.abort(new Error('enough'))), /enough/);
  const evidence = await recalled(provider, 'seat', { user: 'anna' });
  assert.deepEqual(evidence.map(({ id }) => id).sort(), ['hostile', 'seat']);
  assert.deepEqual(evidence.find(({ id }) => id === 'seat').scope, { user: 'anna' });
}

test('PostgreSQL: text rank and similarity, the stronger first', async () => {
  const { PGlite } = await import('@electric-sql/pglite');
  const { vector } = await import('@electric-sql/pglite-pgvector');
  const client = await PGlite.create({ extensions: { vector } });
  after(() => client.close());
  for (const statement of schema({ dimensions: 3 })) await client.query(statement);
  for (const { id, text, title, kind, uri, updated, scope, near } of rows) {
    await client.query('INSERT INTO memories (id, text, title, kind, uri, updated, scope, embedding) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', [id, text, title, kind, uri, updated, JSON.stringify(scope), JSON.stringify(near)]);
  }
  const text = { id: 'pg', client };
  await scoped(postgres(text));
  assert.deepEqual(await idsOf(postgres(text), 'coach seat window', { user: 'anna' }), ['seat'], 'every word');

  const embed = (vector) => postgres({ ...text, embed: () => vector });
  assert.deepEqual(await idsOf(embed([1, 0, 0]), 'nothing of this is written', { user: 'anna', tenant: 'one' }), ['seat', 'seat-t']);
  const [first, second] = await ask(embed([0.1, 1, 0]), 'seat', { user: 'anna' });
  assert.deepEqual([first.id, first.score > 0.99, second.score < 0.2], ['gate', true, true], 'a near one before words');
  // cos = 0.33 and 0.35
  assert.deepEqual(await idsOf(embed([0, 0.33, -Math.sqrt(1 - 0.33 ** 2)]), 'zzz', {}), []);
  assert.deepEqual(await idsOf(embed([0, 0.35, -Math.sqrt(1 - 0.35 ** 2)]), 'zzz', {}), ['gate']);
  for (const junk of [[], [NaN, 0, 0], Promise.reject(new Error('model down'))]) assert.deepEqual(await idsOf(embed(junk), 'window seat', { user: 'anna' }), ['seat'], 'the text is left');
  const slow = { ...text, embed: () => new Promise(() => {}), embedMs: 20 };
  assert.deepEqual(await idsOf(postgres(slow), 'window seat', { user: 'anna' }), ['seat'], 'a model that hangs is not waited for');
  await assert.rejects(ask(postgres({ ...slow, embedMs: 60_000 }), 'seat', {}, 8, AbortSignal.timeout(20)), { name: 'TimeoutError' });
  await assert.rejects(ask(embed([1, 0]), 'seat', {}), /dimensions/);
  assert.equal((await client.query('SELECT count(*)::int AS n FROM memories')).rows[0].n, rows.length);
  for (const table of ['memories; DROP TABLE memories', 'a"b', '', 'x'.repeat(64)]) assert.throws(() => postgres({ ...text, table }), { code: 'INVALID_CONFIG' });

  // A client that never answers is not waited for.
  const hung = postgres({ id: 'hung', client: { query: () => new Promise(() => {}) } });
  await assert.rejects(ask(hung, 'seat', {}, 8, AbortSignal.timeout(20)), { name: 'TimeoutError' });
});

test('D1: words by BM25', async () => {
  const { Miniflare, convertV4MiniflareOptions } = await import('miniflare');
  const worker = new Miniflare(convertV4MiniflareOptions({ compatibilityDate: '2026-11-01', modules: true, script: 'export default {}', d1Databases: ['DB'] }));
  after(() => worker.dispose());
  const database = await worker.getD1Database('DB');
  await database.prepare(d1Schema()).run();
  const add = (row, scope) => database.prepare('INSERT INTO memories (id, text, title, kind, uri, updated, scope) VALUES (?, ?, ?, ?, ?, ?, ?)').bind(row.id, row.text, row.title ?? null, row.kind ?? null, row.uri ?? null, row.updated ?? null, scope).run();
  for (const row of rows) await add(row, JSON.stringify(row.scope));
  for (const [n, scope] of ['{broken', '', null, '{"user":7}'].entries()) await add({ id: `broken-${n}`, text: 'A seat that nobody may see.' }, scope);
  const provider = d1({ id: 'd1', database });
  await scoped(provider);
  const [best, ...others] = await ask(provider, 'window seat or quiet coach', { user: 'anna' });
  assert.equal(best.id, 'seat');
  assert.ok(others.every(({ score }) => score <= best.score));
});

test('HTTP: what is posted, and every way to answer badly', async () => {
  const got = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    got.push({ method: request.method, url: request.url, type: request.headers['content-type'], key: request.headers.authorization, body: JSON.parse(body) });
    const json = (value, status = 200) => response.writeHead(status, { 'content-type': 'application/json' }).end(typeof value === 'string' ? value : JSON.stringify(value));
    const results = Array.from({ length: 20 }, (_, n) => ({ id: n, text: `Berth ${n} is free.` }));
    switch (request.url) {
      case '/array': return json(results);
      case '/object': return json({ results });
      case '/fails': return json({ error: 'x' }, 500);
      case '/moved': return response.writeHead(307, { location: '/array' }).end();
      case '/junk': return json('<html>');
      case '/nothing': return json({ results: null });
      case '/endless': return void (response.writeHead(200), response.on('error', () => {}), (function more() { while (!response.destroyed && response.write('[1,2,3],'.repeat(5000))); if (!response.destroyed) response.once('drain', more); })());
      default: return void response.writeHead(200).write('[');
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => (server.closeAllConnections(), server.close()));
  const at = (path, options) => http({ id: 'web', url: `http://127.0.0.1:${server.address().port}/${path}`, ...options });

  assert.equal((await ask(at('array', { headers: { authorization: 'Bearer x' } }), 'free berth', { user: 'anna' }, 5)).length, 5);
  assert.deepEqual(got[0], { method: 'POST', url: '/array', type: 'application/json', key: 'Bearer x', body: { query: 'free berth', limit: 5, scope: { user: 'anna' }, reason: 'test' } });
  await ask(at('object', { headers: async ({ scope }) => ({ authorization: scope.user }) }), 'q', { user: 'anna' });
  assert.equal(got[1].key, 'anna');
  assert.equal((await recalled(at('object'), 'free berth', {})).length > 0, true);
  for (const [path, error] of [['fails', /HTTP 500/], ['moved', /HTTP 307/], ['junk', /JSON/], ['nothing', /results/], ['endless', { code: 'TOO_LARGE' }]]) await assert.rejects(ask(at(path), 'q', {}), error, path);
  assert.equal(got.filter(({ url }) => url === '/array').length, 1, 'the redirect was not followed');
  await assert.rejects(ask(at('hang'), 'q', {}, 8, AbortSignal.timeout(50)), { name: 'TimeoutError' });
});

test('Markdown: a folder, an array, and a directory handle give the same', async () => {
  const provider = markdown({ id: 'notes', notes: () => notesOf(join(root, 'www/notes')) });
  const evidence = await recalled(provider, 'Which queue did we decide on for booking events?', {});
  assert.equal(evidence[0].id.includes('events-outbox') || evidence[0].text.includes('outbox'), true, evidence[0].id);
  assert.equal((await ask(provider, 'booking events', {}, 1)).length, 1);
  assert.equal((await ask(provider, 'tidelands pricing', {})).some(({ scope }) => Object.keys(scope).length > 0), false, 'what is private to a scope stays there');

  const dir = await folder();
  await put(dir, { 'a.md': '# Gate\n\nThe harbour gate opens at noon.', 'deep/b.MD': '# Crane\n\nThe crane was painted.', 'c.txt': 'gate', '.git/d.md': 'gate', 'node_modules/x/e.md': 'gate' });
  await symlink(join(root, 'README.md'), join(dir, 'linked.md'));
  const found = await Array.fromAsync(notesOf(dir));
  assert.deepEqual(found.map(({ path }) => path), ['a.md', 'deep/b.MD']);
  const [fromFolder, fromArray] = [markdown({ id: 'f', notes: () => notesOf(dir) }), markdown({ id: 'a', notes: found })];
  const wanted = await ask(fromFolder, 'harbour gate', {});
  assert.ok(wanted.length > 0);
  assert.deepEqual(await ask(fromArray, 'harbour gate', {}), wanted);

  await put(dir, { 'z.md': '# Buoy\n\nThe buoy is lit at dusk.' });
  assert.deepEqual(await idsOf(fromFolder, 'buoy lit dusk', {}), []);
  await fromFolder.refresh();
  assert.equal((await idsOf(fromFolder, 'buoy lit dusk', {})).length, 1);
  await assert.rejects(ask(markdown({ id: 'x', notes: found, maxBytes: 10 }), 'gate', {}), { code: 'TOO_LARGE' });
  await assert.rejects(ask(markdown({ id: 'x', notes: () => notesOf(join(dir, 'missing')) }), 'gate', {}), { code: 'ENOENT' });

  const { dir: app } = await project();
  await put(app, {
    'index.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
import { init } from './node_modules/foreword/entry.default.js';
import { directory, markdown } from './node_modules/foreword/providers/markdown.js';
await init();
const root = await navigator.storage.getDirectory();
for (const [path, text] of ${JSON.stringify(found.map(({ path, text }) => [path, text]))}) {
  const parts = path.split('/');
  let folder = root;
  for (const part of parts.slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true });
  const writable = await (await folder.getFileHandle(parts.at(-1), { create: true })).createWritable();
  await writable.write(text);
  await writable.close();
}
const provider = markdown({ id: 'h', notes: () => directory(root) });
globalThis.printed = JSON.stringify(await provider.search({ query: 'harbour gate', limit: 8, scope: {} }));
</script>`,
  });
  const page = await open(await browse('chrome'), await serve({ '/': app }));
  assert.deepEqual(JSON.parse(await printed(page)), JSON.parse(JSON.stringify(wanted)));
});
