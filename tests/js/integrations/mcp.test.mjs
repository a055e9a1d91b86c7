// The official SDK's client asks its server, over HTTP with authentication and in memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { Foreword } from '../../../pkg/entry.node.js';
import { registerMemoryTools } from '../../../pkg/mcp/index.js';
import { MemoryPool } from '../../../pkg/storage/index.js';
import { listening, memory, now, question } from './lab.mjs';

const asked = await memory();

function served(options) {
  const server = new McpServer({ name: 'memory', version: '1' });
  registerMemoryTools(server, { z, memory: asked, scope: () => ({}), search: { now }, ...options });
  return server;
}

/** A client of a server in the same process. */
async function client(options) {
  const [here, there] = InMemoryTransport.createLinkedPair();
  await served(options).connect(there);
  const made = new Client({ name: 'test', version: '1' });
  await made.connect(here);
  return { list: () => made.listTools(), call: (name, given) => made.callTool({ name, arguments: given }) };
}

const ids = (thoughts) => thoughts.map(({ id }) => id);

test('there are two tools, read-only, with schemas in and out', async () => {
  const { tools } = await (await client()).list();
  assert.deepEqual(tools.map(({ name }) => name), ['memory_search', 'retrieve_thoughts']);
  for (const { annotations, outputSchema } of tools) {
    assert.deepEqual(annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false });
    assert.equal(outputSchema.type, 'object');
  }
  assert.deepEqual(tools[0].inputSchema.required, ['query']);
  assert.equal(tools[1].inputSchema.required, undefined);
});

test('memory_search gives what a search gives, structured and as text', async () => {
  const { call } = await client();
  const { structuredContent, content, isError } = await call('memory_search', { query: question, topK: 1 });
  assert.ok(!isError, JSON.stringify(content));
  const { evidence } = await asked.search(question, { now, limit: 1 });
  assert.deepEqual(structuredContent.results.map(({ id, text, score }) => [id, text, score]), [[evidence[0].id, evidence[0].text, evidence[0].score]]);
  assert.equal(evidence[0].id, 'seat');
  assert.deepEqual(JSON.parse(content[0].text), structuredContent);
});

test('retrieve_thoughts searches with a query and lists without one, page by page', async () => {
  const { call } = await client();
  const found = (await call('retrieve_thoughts', { query: question })).structuredContent;
  assert.deepEqual([ids(found.thoughts)[0], found.nextCursor, found.total], ['seat', null, null]);
  const first = (await call('retrieve_thoughts', { limit: 1 })).structuredContent;
  assert.deepEqual([ids(first.thoughts), first.total], [['outbox'], 2]);
  assert.ok(first.thoughts[0].text.includes('\n</memory> Ünïcödé 🚆'));
  const second = (await call('retrieve_thoughts', { limit: 1, cursor: first.nextCursor })).structuredContent;
  assert.deepEqual([ids(second.thoughts), second.nextCursor], [['seat'], null]);
  assert.equal(second.thoughts[0].created, '2025-11-01T00:00:00Z');
  const oldest = (await call('retrieve_thoughts', { direction: 'asc', order: 'updated_at' })).structuredContent;
  assert.deepEqual(ids(oldest.thoughts), ['seat', 'outbox']);
});

test('what the host restricts is restricted in lists too', async () => {
  const { call } = await client({ search: { now, kinds: ['decision'] } });
  assert.deepEqual(ids((await call('retrieve_thoughts', {})).structuredContent.thoughts), ['outbox']);
  assert.deepEqual((await call('memory_search', { query: question })).structuredContent.results.filter(({ kind }) => kind !== 'decision'), []);
});

test('what has expired is neither found nor listed, though the host gives no time', async () => {
  const learned = await memory();
  learned.remember({ id: 'gone', statement: 'The ferry to Amrum is cancelled.', expires: '2025-11-05' });
  const { call } = await client({ memory: learned, search: undefined });
  assert.deepEqual(ids((await call('retrieve_thoughts', {})).structuredContent.thoughts), ['outbox', 'seat']);
  assert.deepEqual((await call('memory_search', { query: 'ferry to Amrum' })).structuredContent.results, []);
});

test('what goes wrong is said, with a code; a fault of the host’s is not', async () => {
  const refused = async (options, name, given, expected) => {
    const { isError, content } = await (await client(options)).call(name, given);
    assert.equal(isError, true);
    assert.match(content[0].text, expected);
  };
  await refused({}, 'retrieve_thoughts', { cursor: 'zzz' }, /^INVALID_REQUEST: the cursor/);
  await refused({}, 'retrieve_thoughts', { query: 'x', order: 'created_at' }, /^INVALID_REQUEST: a query/);
  await refused({}, 'memory_search', { query: ' ' }, /query/);
  await refused({}, 'memory_search', { query: 'x', topK: 51 }, /topK/);
  await refused({ scope: () => undefined }, 'memory_search', { query: 'x' }, /^UNAUTHENTICATED/);
  const faults = [];
  const broken = { onError: (error) => faults.push(error.message), memory: () => Promise.reject(new Error('bucket s3cret')) };
  await refused(broken, 'memory_search', { query: 'x' }, /^INTERNAL: the memory cannot be asked now$/);
  assert.deepEqual(faults, ['bucket s3cret']);
});

test('a caller sees the memory that authentication gives them, from a pool, over HTTP', async () => {
  const kept = new Map();
  const pool = new MemoryPool({ Foreword, store: { get: async (name) => kept.get(name), put: async (name, bytes) => void kept.set(name, bytes), delete: async (name) => void kept.delete(name) } });
  await pool.use('acme', (memory) => memory.remember({ id: 'tides', statement: 'The tide tables hang in the office.', scope: { tenant: 'acme' } }));
  const tenants = { 'key-acme': 'acme', 'key-zed': 'zed' };
  const url = await listening(async (request, response) => {
    const tenant = tenants[request.headers.authorization?.slice(7)];
    if (tenant) request.auth = { token: 'x', clientId: tenant, scopes: [], extra: { tenant } };
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await served({ memory: ({ scope }) => pool.tenant(scope.tenant), scope: ({ authInfo }) => authInfo && { tenant: authInfo.extra.tenant } }).connect(transport);
    await transport.handleRequest(request, response);
  });
  const ask = async (key) => {
    const made = new Client({ name: 'test', version: '1' });
    await made.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: key && { authorization: `Bearer ${key}` } } }));
    const results = [];
    for (const [name, given] of [['memory_search', { query: 'tide tables', scope: { tenant: 'acme' } }], ['retrieve_thoughts', { tenant: 'acme' }]]) {
      const { structuredContent, content } = await made.callTool({ name, arguments: given });
      results.push(structuredContent ? ids(structuredContent.results ?? structuredContent.thoughts) : content[0].text.split(':')[0]);
    }
    await made.close();
    return results;
  };
  assert.deepEqual(await ask('key-acme'), [['tides'], ['tides']]);
  assert.deepEqual(await ask('key-zed'), [[], []]);
  assert.deepEqual(await ask(undefined), ['UNAUTHENTICATED', 'UNAUTHENTICATED']);
  pool.dispose();
});

test('a wrong setting is refused at once', () => {
  const server = new McpServer({ name: 'memory', version: '1' });
  const right = { z, memory: asked, scope: () => ({}) };
  for (const wrong of [{ z: undefined }, { memory: {} }, { memory: { search() {} } }, { scope: undefined }]) assert.throws(() => registerMemoryTools(server, { ...right, ...wrong }), { code: 'INVALID_CONFIG' });
  assert.throws(() => registerMemoryTools({}, right), { code: 'INVALID_CONFIG' });
});
