// The example Worker, bundled by wrangler as it stands and run in workerd with an R2 bucket; the model behind it is a server here that records
// what it was sent.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cp, readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bin, project, root, run } from './lab.mjs';

const { dir } = await project();
for (const part of ['src', 'wrangler.jsonc']) await cp(join(root, 'www/worker', part), join(dir, part), { recursive: true });
const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', HOME: dir, XDG_CONFIG_HOME: dir };
await run(process.execPath, [bin('wrangler'), 'deploy', '--dry-run', '--outdir', 'out'], { cwd: dir, env }).catch((error) => assert.fail(`${error.stdout}${error.stderr}`));

const sent = [];
const model = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  sent.push({ url: request.url, headers: request.headers, text: Buffer.concat(pieces).toString() });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of ['data: {"n":1}\n\n', 'data: {"n":2}\n\n', 'data: [DONE]\n\n']) {
    response.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  response.end();
});
await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve));
after(() => (model.closeAllConnections(), model.close()));

const digest = (key) => createHash('sha256').update(key).digest('hex');
const users = { ana: ['acme', 'ana'], bob: ['acme', 'bob'], eve: ['../acme', 'ana'], zed: ['zed', 'zed'], kim: ['kim', 'kim'], lee: ['lee', 'lee'] };
const files = await readdir(join(dir, 'out'));
const wasm = files.filter((file) => file.endsWith('.wasm'));
const { Miniflare, convertV4MiniflareOptions } = await import('miniflare');
const worker = new Miniflare(convertV4MiniflareOptions({
  compatibilityDate: '2026-11-01',
  r2Buckets: ['MEMORIES'],
  bindings: {
    UPSTREAM: `http://127.0.0.1:${model.address().port}`,
    UPSTREAM_KEY: 'the-model-key',
    USERS: JSON.stringify(Object.fromEntries(Object.entries(users).map(([key, [tenant, user]]) => [digest(key), { tenant, user }]))),
  },
  modules: [
    { type: 'ESModule', path: 'index.js', contents: await readFile(join(dir, 'out/index.js'), 'utf8') },
    ...(await Promise.all(wasm.map(async (path) => ({ type: 'CompiledWasm', path, contents: await readFile(join(dir, 'out', path)) })))),
  ],
}));
after(() => worker.dispose());
const origin = await worker.ready;
const post = (path, key, body, headers = {}) =>
  worker.dispatchFetch(`http://gateway.test${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });
const asked = (content) => ({ model: 'm', stream: true, messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content }] });

test('who has no key is nobody', async () => {
  for (const key of [undefined, 'wrong', '__proto__']) {
    for (const path of ['/v1/chat/completions', '/memories', '/search']) assert.equal((await post(path, key, [])).status, 401, `${key} ${path}`);
  }
  assert.equal(sent.length, 0, 'nothing went to the model');
});

test('what a user taught stands before that user’s next prompt, and before nobody else’s', async () => {
  const taught = await post('/memories', 'ana', [{ id: 'seat', statement: 'On trains I like a window seat in the quiet coach.', scope: {}, supersedes: ['bob/x'] }]);
  assert.deepEqual([taught.status, await taught.json()], [201, { learned: 1, flagged: [] }]);
  const bucket = await worker.getR2Bucket('MEMORIES');
  assert.equal((await bucket.list()).objects.length, 1, 'it is in the bucket when the answer comes');

  const question = 'Which seat do I like on trains?';
  const response = await post('/v1/chat/completions', 'ana', asked(question));
  assert.equal(response.status, 200);
  assert.equal(await response.text(), 'data: {"n":1}\n\ndata: {"n":2}\n\ndata: [DONE]\n\n');
  const { url, headers, text } = sent.pop();
  assert.deepEqual([url, headers.authorization], ['/v1/chat/completions', 'Bearer the-model-key']);
  const { messages } = JSON.parse(text);
  assert.match(messages[1].content, /window seat in the quiet coach/);
  assert.ok(messages[1].content.endsWith(question));
  assert.equal(messages[0].content, 'Be brief.');

  for (const other of ['bob', 'eve']) {
    const body = JSON.stringify(asked(question));
    await (await post('/v1/chat/completions', other, body)).text();
    assert.equal(sent.pop().text, body, `${other}: byte for byte`);
    const { results } = await (await post('/search', other, { query: 'window seat on trains' })).json();
    assert.deepEqual(results, [], other);
  }
  const { results } = await (await post('/search', 'ana', { query: 'window seat on trains', topK: 3 })).json();
  assert.deepEqual(results.map(({ id }) => id), ['ana/seat']);
});

test('Anthropic’s clients send their key in another header', async () => {
  const response = await post('/v1/messages', undefined, { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Which seat do I like on trains?' }] }, { 'x-api-key': 'ana' });
  await response.text();
  const { headers, text } = sent.pop();
  assert.deepEqual([headers['x-api-key'], headers.authorization], ['the-model-key', undefined]);
  assert.match(text, /window seat/);
});

test('requests that come at once share one load, and what each of them teaches is kept', async () => {
  const taught = await Promise.all(Array.from({ length: 12 }, (_, n) => post('/memories', 'kim', [{ id: `buoy-${n}`, statement: `Buoy ${n} is lit at dusk.` }])));
  assert.deepEqual(taught.map(({ status }) => status), Array(12).fill(201));
  const found = await Promise.all(Array.from({ length: 12 }, async (_, n) => (await (await post('/search', 'kim', { query: `buoy ${n}`, topK: 20 })).json()).results.length));
  assert.deepEqual(found, Array(12).fill(12));
  // A client that has gone takes nothing along that others wait for.
  const gone = new AbortController();
  const left = Array.from({ length: 4 }, (_, n) => fetch(new URL('/memories', origin), { method: 'POST', signal: gone.signal, headers: { authorization: 'Bearer lee', 'content-type': 'application/json' }, body: JSON.stringify([{ id: `x-${n}`, statement: 'The gate opens at noon.' }]) }).catch(() => {}));
  setTimeout(() => gone.abort(), 3);
  await Promise.all(left);
  assert.equal((await post('/memories', 'lee', [{ id: 'y', statement: 'The tide table hangs in the office.' }])).status, 201);
  assert.deepEqual((await (await post('/search', 'lee', { query: 'tide table office' })).json()).results.map(({ id }) => id), ['lee/y']);
});

test('a damaged snapshot costs the memory, not the request; what is no record is refused', async () => {
  const bucket = await worker.getR2Bucket('MEMORIES');
  await bucket.put('foreword/_zed.fwd', new Uint8Array(5000).fill(1));
  const body = JSON.stringify(asked('When does the harbour gate open?'));
  const response = await post('/v1/chat/completions', 'zed', body);
  assert.equal(response.status, 200);
  await response.text();
  assert.equal(sent.pop().text, body);
  assert.equal((await post('/search', 'zed', { query: 'gate' })).status, 500);
  assert.equal((await post('/memories', 'zed', [{ id: 'a', statement: 'The gate opens at noon.' }])).status, 503);
  for (const bad of ['{', '{}', '[1]', JSON.stringify([{ id: 'x' }]), JSON.stringify('x'.repeat(300_000))]) assert.equal((await post('/memories', 'ana', bad)).status, 400, bad.slice(0, 20));
});
