// Requests as nobody should write them, and memories that misbehave: what reaches the model, to the byte.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { searchHandler, withForeword } from '../../../pkg/workers/index.js';
import { memory, model, now, post, question, records } from './lab.mjs';

const asked = await memory();
const stub = await model();
const { block } = await asked.recall(question, { now });
const CHAT = '/v1/chat/completions';
const said = JSON.stringify(question);
const chat = (content) => `{"messages":[{"role":"user","content":${content}}]}`;
const before = JSON.stringify(block.text).slice(1, -1);

function proxy(options) {
  const faults = [];
  const handle = withForeword({ memory: asked, upstream: stub.url, recall: { now }, scope: () => ({}), onError: (error) => faults.push(error), ...options });
  return { faults, handle };
}

/** What the model is sent for a request, and what memory had to say. */
async function sent(request, options) {
  const { faults, handle } = proxy(options);
  assert.equal((await handle(request)).status, 200);
  const { body, headers } = stub.last();
  if (headers['content-length'] !== undefined) assert.equal(Number(headers['content-length']), body.length);
  return { body: body.toString(), faults };
}

const edited = {
  'numbers beyond 2^53, a sign on zero, and spacing': [CHAT, ` {"seed" : 12345678901234567890123, "t":1.0e0, "z":-0.0, "messages" :\n[ {"role":"user","content":${said} } ] }\n`],
  'a name twice, where it decides nothing': [CHAT, `{"metadata":{"a":1,"a":2},"messages":[{"role":"user","content":${said}}]}`],
  'names of what objects inherit': [CHAT, `{"__proto__":1,"constructor":2,"messages":[{"__proto__":{"role":"user","content":"x"}},{"role":"user","content":${said}}]}`],
  'names in escapes': [CHAT, `{"mess\\u0061ges":[{"r\\u006fle":"us\\u0065r","content":${said}}]}`],
  'half a character': [CHAT, chat('"\\ud800 Which train seat do I like?"')],
  'messages that are none': [CHAT, `{"messages":[null,5,"x",[],{"role":"user","content":${said}},null]}`],
  'a tool has the last word': [CHAT, `{"messages":[{"role":"user","content":${said}},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"1","content":"seat"}]}`],
  'the model has the last word': [CHAT, `{"messages":[{"role":"developer","content":"x"},{"role":"user","content":${said}},{"role":"assistant","content":"The"}]}`],
  'results of tools alone are not the user': ['/v1/messages', `{"messages":[{"role":"user","content":${said}},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"seat"}]}]}`],
  'input that is one text': ['/v1/responses', `{"previous_response_id":"r","input":${said}}`],
  'input that is a list': ['/v1/responses', `{"previous_response_id":"r","input":[{"type":"message","role":"user","content":${said}}]}`],
};
for (const [name, [path, text]] of Object.entries(edited)) {
  test(`nothing but the block is put in: ${name}`, async () => {
    const { body, faults } = await sent(post(path, text));
    assert.equal(body.split(before).length, 2, body);
    assert.equal(body.replace(before, ''), text);
    assert.deepEqual(faults, []);
  });
}

test('a part of its own goes before the last text, which keeps its mark for the cache', async () => {
  const part = `{"type":"text","text":${said},"cache_control":{"type":"ephemeral"}}`;
  const text = `{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[ ${part} ]}]}`;
  const { body } = await sent(post('/v1/messages', text));
  assert.equal(body, text.replace(part, `{"type":"text","text":"${before}"},${part}`));
});

const untouched = {
  'the list of messages twice': [CHAT, `{"messages":[],"messages":[{"role":"user","content":${said}}]}`],
  'content twice': [CHAT, `{"messages":[{"role":"user","content":"x","content":${said}}]}`],
  'a role twice': [CHAT, `{"messages":[{"role":"system","role":"user","content":${said}}]}`],
  'messages in what is inherited': [CHAT, `{"__proto__":{"messages":[{"role":"user","content":${said}}]}}`],
  'a role in what is inherited': [CHAT, `{"messages":[{"__proto__":{"role":"user"},"content":${said}}]}`],
  'messages as one text, which only input may be': [CHAT, `{"messages":${said}}`],
  'a byte order mark': [CHAT, `\ufeff${chat(said)}`],
  'input of a tool alone': ['/v1/responses', '{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"1","output":"x"}]}'],
  'no input': ['/v1/responses', '{"prompt":{"id":"x"}}'],
  'nesting without end': [CHAT, '['.repeat(1_000_000)],
  'two million messages that are none': [CHAT, `{"messages":[${'0,'.repeat(1_999_999)}0]}`],
  'four million letters': [CHAT, chat(JSON.stringify('a'.repeat(4_000_000)))],
  'another media type': [CHAT, chat(said), { 'content-type': 'text/plain' }],
  ...Object.fromEntries(['null', '[]', '""', '{}', '5', '[{"type":"text","text":5}]', `[${said}]`].map((content) => [`content ${content}`, [CHAT, chat(content)]])),
  ...Object.fromEntries(['', '  ', '[]', '"x"', 'null', '{"messages":{}}', '{"messages":null}', chat(said).slice(0, -1)].map((text) => [`body ${JSON.stringify(text)}`, [CHAT, text]])),
};
for (const [name, [path, text, headers]] of Object.entries(untouched)) {
  test(`byte for byte: ${name}`, async () => {
    const { body, faults } = await sent(post(path, text, headers));
    assert.equal(body, text);
    assert.deepEqual(faults, []);
  });
}

test('byte for byte: compressed, labelled as it is or not', async () => {
  const bytes = gzipSync(chat(said));
  for (const headers of [{ 'content-encoding': 'gzip' }, {}]) {
    await sent(post(CHAT, bytes, headers));
    assert.ok(bytes.equals(stub.last().body));
  }
});

test('requests without a body, and one whose body somebody else is reading, go on as they are', async () => {
  for (const method of ['GET', 'HEAD']) {
    const { handle } = proxy();
    assert.equal((await handle(new Request(`http://proxy.example${CHAT}`, { method }))).status, 200);
    assert.equal(stub.last().method, method);
  }
  const forwarded = [];
  const { handle } = proxy({ upstream: undefined, forward: (request) => (forwarded.push(request), new Response()) });
  const read = post(CHAT, chat(said));
  await read.text();
  const locked = post(CHAT, chat(said));
  locked.body.getReader();
  for (const request of [read, locked]) {
    await handle(request);
    assert.equal(forwarded.pop(), request);
  }
});

test('who breaks off is not answered', async () => {
  const caller = new AbortController();
  const request = new Request(post(CHAT, chat(said)), { signal: caller.signal });
  caller.abort();
  await assert.rejects(proxy().handle(request), { name: 'AbortError' });
});

test('a provider that hangs costs its own results: what there is by then is attached, however long scope took', async () => {
  const hung = await memory({ providers: [{ id: 'slow', search: () => new Promise(() => {}) }] });
  const scope = () => new Promise((resolve) => setTimeout(resolve, 100, {}));
  for (const options of [{}, { scope }, { recall: { now, providers: ['slow'], deadlineMs: 20 } }]) {
    const results = [];
    const { body, faults } = await sent(post(CHAT, chat(said)), { memory: hung, timeoutMs: 400, recall: { now, providers: ['slow'] }, onRecall: (result) => results.push(result), ...options });
    assert.equal(body, chat(said).replace(question, before + question));
    assert.deepEqual(faults, []);
    assert.deepEqual(results[0].degraded.map(({ part }) => part), ['deadline', 'provider']);
  }
});

test('time without end is time enough', async () => {
  for (const timeoutMs of [Infinity, 2 ** 31]) assert.ok((await sent(post(CHAT, chat(said)), { timeoutMs })).body.includes(before));
});

const broken = {
  'a scope that is none': { scope: () => ['acme'] },
  'a scope without a value': { scope: () => ({ tenant: undefined }) },
  'a scope that throws nothing': { scope: () => { throw undefined; } },
  'no memory': { memory: () => ({}) },
  'a result that is none': { memory: () => ({ recall: () => 5 }) },
  'a result that throws': { memory: () => ({ recall: async () => ({ get block() { throw new Error('no'); } }) }) },
  'a block that is no text': { memory: () => ({ recall: async () => ({ block: { text: 5 } }) }) },
  'a listener that throws': { scope: () => Promise.reject(new Error('no')), onError: () => { throw new Error('no'); } },
  'an option that does not exist': { recall: { nope: 1 } },
};
for (const [name, options] of Object.entries(broken)) {
  test(`a request does not fail for its memory: ${name}`, async () => assert.equal((await sent(post(CHAT, chat(said)), options)).body, chat(said)));
}

test('wrong settings are refused at once', () => {
  const given = { memory: asked, scope: () => ({}) };
  for (const wrong of [{ timeoutMs: '1000' }, { timeoutMs: NaN }, { maxBytes: '9' }, { serach: {} }, { upstream: '/v1' }]) assert.throws(() => withForeword({ ...given, ...wrong }), { code: 'INVALID_CONFIG' });
  assert.throws(() => searchHandler({ ...given, serach: {} }), { code: 'INVALID_CONFIG' });
});

test('the search handler takes what it says it takes, and within the scope that it is told', async () => {
  const faults = [];
  const handle = searchHandler({ memory: asked, scope: () => ({}), search: { now }, onError: (error) => faults.push(error) });
  const answer = async (text, headers) => {
    const response = await handle(post('/search', text, headers));
    return [response.status, await response.json()];
  };
  const [status, { results, degraded }] = await answer('{"query":"\\ud800 train seat","topK":1.0}');
  assert.deepEqual([status, results.map(({ id }) => id), degraded], [200, ['seat'], []]);
  const other = records.find(({ scope }) => scope);
  assert.deepEqual(await answer(JSON.stringify({ query: other.statement, scope: other.scope, tenant: 'acme' })), [200, { results: [], degraded: [] }]);
  const wrong = ['', 'null', '5', '[]', '{}', '{"query":["x"]}', '{"query":"  "}', '{"__proto__":{"query":"train seat"}}', ...['0', '51', '1.5', '"5"', 'null'].map((topK) => `{"query":"x","topK":${topK}}`), gzipSync('{"query":"x"}')];
  for (const text of wrong) {
    const [status, { error }] = await answer(text);
    assert.deepEqual([status, error.code], [400, 'INVALID_REQUEST'], String(text));
  }
  assert.equal((await answer(`{"query":"${'x'.repeat(65_536)}"}`))[0], 413);
  for (const method of ['GET', 'HEAD', 'PUT']) {
    const refused = await handle(new Request('http://proxy.example/search', { method }));
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'POST']);
  }
  assert.deepEqual(faults, []);
});
