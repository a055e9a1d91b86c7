// Hono's own routing, authentication and proxy around the middleware, and OpenAI's client before it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { proxy } from 'hono/proxy';
import OpenAI from 'openai';
import { foreword } from '../../../pkg/hono/index.js';
import { memory, model, now, post, question } from './lab.mjs';

const asked = await memory();
const stub = await model();
const body = { model: 'stub', messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: question }] };
const { block } = await asked.recall(question, { now });
const forward = (c) => proxy(stub.url + new URL(c.req.url).pathname, { ...c.req });

/** An application that knows two keys and forwards what it is sent. */
function app(options) {
  const faults = [];
  const tenants = { 'key-acme': 'acme', 'key-zed': 'zed' };
  const made = new Hono();
  made.use(
    bearerAuth({
      verifyToken: (token, c) => {
        c.set('tenant', tenants[token]);
        return token in tenants;
      },
    }),
  );
  made.use('/v1/*', foreword({ memory: asked, recall: { now }, scope: (_, c) => ({ tenant: c.get('tenant') }), onError: (error) => faults.push(error), ...options }));
  made.all('/v1/*', forward);
  return { faults, ask: (path, body, key = 'key-acme') => made.request(post(path, body, key && { authorization: `Bearer ${key}` })) };
}

test('the last user message gets the foreword, and the answer comes back untouched', async () => {
  const { ask, faults } = app();
  const response = await ask('/v1/chat/completions', body);
  assert.equal(response.headers.get('x-model'), 'stub');
  assert.equal((await response.json()).choices[0].message.content, 'A window seat.');
  assert.ok(block.recall.includes('window seat'));
  assert.deepEqual(stub.last().json, { ...body, messages: [body.messages[0], { role: 'user', content: block.text + question }] });
  assert.deepEqual(faults, []);
});

test('a client of the application streams through it', async () => {
  const { ask } = app();
  const openai = new OpenAI({ apiKey: 'key-acme', baseURL: 'http://proxy.example/v1', maxRetries: 0, fetch: (url, init) => ask(new URL(url).pathname, init.body, new Headers(init.headers).get('authorization').slice(7)) });
  let text = '';
  for await (const part of await openai.chat.completions.create({ ...body, stream: true })) text += part.choices[0]?.delta.content ?? '';
  assert.equal(text, 'A window seat.');
  assert.equal(stub.last().json.messages[1].content, block.text + question);
});

test('whose memory it is says the authentication before it, whatever the body says', async () => {
  const { ask } = app();
  const invoice = (more) => ({ ...more, model: 'stub', messages: [{ role: 'user', content: 'When does Acme pay the Kiel harbour invoice?' }] });
  await ask('/v1/chat/completions', invoice());
  assert.match(stub.last().json.messages[0].content, /in March/);
  const claimed = JSON.stringify(invoice({ scope: { tenant: 'acme' }, tenant: 'acme' }));
  await ask('/v1/chat/completions', claimed, 'key-zed');
  assert.doesNotMatch(stub.last().text, /in March/);
  const before = stub.requests.length;
  assert.equal((await ask('/v1/chat/completions', invoice(), 'nobody')).status, 401);
  assert.equal(stub.requests.length, before);
});

test('other paths, other bodies and a memory that fails: byte for byte', async () => {
  const text = ` ${JSON.stringify(body, null, 3)}\n`;
  for (const [path, sent, options] of [
    ['/v1/embeddings', text],
    ['/v1/chat/completions', '{"messages": '],
    ['/v1/chat/completions', text, { maxBytes: 10 }],
    ['/v1/chat/completions', text, { scope: () => undefined }],
    ['/v1/chat/completions', text, { scope: () => Promise.reject(new Error('no such session')) }],
    ['/v1/chat/completions', text, { memory: () => { throw new Error('no bucket'); } }],
    ['/v1/chat/completions', text, { timeoutMs: 5, memory: () => new Promise(() => {}) }],
  ]) {
    assert.equal((await app(options).ask(path, sent)).status, 200);
    assert.equal(stub.last().text, sent, path);
  }
});

test('a body that was read before reaches the handler as it was, and that is said', async () => {
  const faults = [];
  const made = new Hono();
  made.use(async (c, next) => {
    await c.req.json();
    await next();
  });
  made.use(foreword({ memory: asked, recall: { now }, scope: () => ({}), onError: (error) => faults.push(error.code) }));
  made.post('/v1/messages', async (c) => c.text(await c.req.text()));
  const text = JSON.stringify(body);
  assert.equal(await (await made.request(post('/v1/messages', text))).text(), text);
  assert.deepEqual(faults, ['INVALID_REQUEST']);
});

test('a block that went into a conversation is not attached again', async () => {
  const { ask } = app({ conversation: () => 'c1' });
  const texts = [];
  for (let turn = 0; turn < 2; turn++) {
    await ask('/v1/chat/completions', body);
    texts.push(stub.last().json.messages[1].content);
  }
  assert.deepEqual(texts, [block.text + question, question]);
});

test('a wrong setting is refused at once', () => {
  assert.throws(() => foreword({ memory: asked }), { code: 'INVALID_CONFIG' });
  assert.throws(() => foreword({ memory: asked, scope: () => ({}), upstream: 'https://x.example' }), { code: 'INVALID_CONFIG' });
});
