// Every JavaScript example of the READMEs, word for word, in a project that has the package and the SDKs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { model, question } from './lab.mjs';

const run = promisify(execFile);
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const dir = await mkdtemp(join(tmpdir(), 'foreword-'));
after(() => rm(dir, { recursive: true, force: true }));
await mkdir(join(dir, 'node_modules/@modelcontextprotocol'), { recursive: true });
await symlink(path('../../../pkg'), join(dir, 'node_modules/foreword'), 'junction');
for (const name of ['ai', 'hono', 'zod', '@modelcontextprotocol/sdk']) await symlink(path(`./node_modules/${name}`), join(dir, 'node_modules', name), 'junction');

const stub = await model();
const seat = JSON.stringify('On trains I like a window seat in the quiet coach.');
/** What the examples' programs have already, by name. */
const have = {
  bytes: `import { buildSnapshot as build } from 'foreword';\nconst { bytes } = await build({ records: [{ id: 'seat', statement: ${seat} }] });`,
  memory: `import { Foreword as Memory } from 'foreword';\nconst memory = await Memory.empty();\nmemory.remember([{ id: 'seat', statement: ${seat} }, { id: 'acme', statement: 'The Acme dock closes on Mondays.', scope: { tenant: 'acme' } }]);`,
  bucket: 'const kept = new Map();\nconst bucket = { get: async (key) => { const bytes = kept.get(key); return bytes ? { size: bytes.length, body: new Blob([bytes]).stream() } : null; }, put: async (key, bytes) => kept.set(key, bytes.slice()), delete: async (key) => kept.delete(key) };',
  model: `const online = fetch;\nglobalThis.fetch = (given) => { const request = new Request(given); return online(new Request(request.url.replace('https://api.openai.com', '${stub.url}'), request)); };\nconst posted = (key) => new Request('http://app.test/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json', authorization: key }, body: JSON.stringify({ messages: [{ role: 'user', content: 'When does the Acme dock close?' }] }) });`,
};
/** By a piece of each example: what stands before and after it, and what it prints then. */
const examples = [
  { of: "notes: [{ path: 'seats.md'", after: 'console.log(prompt, degraded.length);', prints: /Window seat, quiet coach\.[^]*Which train seat do I like\? 0/ },
  { of: "kind: 'preference', statement", prints: /memory is needed[^]*window seat in the quiet coach/ },
  {
    of: "pool.tenant('from-your-auth')",
    before: have.bucket,
    after: `
import worker from './example.mjs';
const ask = async (body) => (await worker.fetch(new Request('http://worker.test', { method: 'POST', body: JSON.stringify(body) }), { BUCKET: bucket })).json();
console.log((await ask({ prompt: '${question}', fact: ${seat} })).prompt, kept.size);`,
    prints: /window seat in the quiet coach\.[^]*Which train seat do I like\? 1/,
  },
  {
    of: "await fetch('/memory.fwd')",
    before: `${have.memory}\n${have.bucket}\nimport { Foreword } from 'foreword';\nconst store = bucket;\nglobalThis.fetch = async (url) => new Response(kept.get(url.slice(1)));`,
    after: "console.log((await again.recall('When does the harbour gate open?')).block.recall);",
    prints: /The harbour gate opens at noon\./,
  },
  {
    of: 'const ask = withForeword(',
    before: `${have.memory}\n${have.model}\nconst tenantOf = (key) => key;`,
    after: "import app from './example.mjs';\nfor (const key of ['acme', 'zed']) await app.fetch(posted(key));",
    sends: [/dock closes on Mondays/, /^((?!Mondays).)*$/s],
  },
  {
    of: "import { foreword } from 'foreword/ai-sdk'",
    before: `${have.memory}\nimport { generateText, wrapLanguageModel } from 'ai';\nconst session = { tenant: 'acme' };\nlet seen;\nconst model = { specificationVersion: 'v4', provider: 'stub', modelId: 'stub', supportedUrls: {}, doGenerate: async ({ prompt }) => ((seen = prompt), { content: [{ type: 'text', text: 'On Mondays.' }], finishReason: { unified: 'stop', raw: 'stop' }, usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } }, warnings: [] }) };`,
    after: "await generateText({ model: remembering, prompt: 'When does the Acme dock close?' });\nconsole.log(JSON.stringify(seen));",
    prints: /dock closes on Mondays/,
  },
  {
    of: "import { foreword } from 'foreword/hono'",
    before: `${have.memory}\n${have.model}\nimport { Hono } from 'hono';\nimport { proxy } from 'hono/proxy';\nconst app = new Hono();\napp.use((c, next) => (c.set('tenant', c.req.header('authorization')), next()));`,
    after: "for (const key of ['acme', 'zed']) await app.fetch(posted(key));",
    sends: [/dock closes on Mondays/, /^((?!Mondays).)*$/s],
  },
  {
    of: 'registerMemoryTools(server, {',
    before: `${have.memory}\nimport { Client } from '@modelcontextprotocol/sdk/client/index.js';\nimport { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';\nimport { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nimport { z } from 'zod';\nconst server = new McpServer({ name: 'memory', version: '1' });`,
    after: `
const [here, there] = InMemoryTransport.createLinkedPair();
const send = here.send.bind(here);
here.send = (message) => send(message, { authInfo: { clientId: 'acme', token: '', scopes: [] } });
await server.connect(there);
const client = new Client({ name: 'test', version: '1' });
await client.connect(here);
console.log(JSON.stringify(await client.callTool({ name: 'memory_search', arguments: { query: 'Acme dock' } })));`,
    prints: /dock closes on Mondays/,
  },
  {
    of: "import { MemoryPool, r2 } from 'foreword/storage';\n\nconst pool",
    before: `${have.bucket}\nconst env = { BUCKET: bucket };\nconst tenantOfTheCaller = 'acme';\nconst record = { id: 'seat', statement: ${seat} };\nconst prompt = '${question}';`,
    after: 'console.log(block.text, kept.size, (await pool.tenant(tenantOfTheCaller).recall(prompt)).block.included);',
    prints: /^ 1 \[ 'seat' \]/,
  },
  {
    of: 'foreword/providers/http',
    before: `${have.bytes}\nimport { Foreword } from 'foreword';\nconst pool = { query: async () => ({ rows: [] }) };\nconst embedSomehow = async () => [1];\nconst authorization = 'key';\nglobalThis.fetch = async () => Response.json([]);`,
    after: `console.log((await memory.search('train seat', { providers: ['team', 'wiki'] })).providers.map(({ id, status }) => id + status).join());`,
    prints: /^memoryok,teamok,wikiok/,
  },
  { of: 'onmessage = async', only: 'read' },
  {
    of: '(await fetch(tableUrl))',
    before: `import { Foreword, buildSnapshot } from 'foreword';\nimport { readFile } from 'node:fs/promises';\nconst notes = [{ path: 'seats.md', text: '# Train seats\\n\\nWindow seat, quiet coach.' }];\nconst tableUrl = new URL(import.meta.resolve('foreword/static/foreword-static-v1.bin'));\nglobalThis.fetch = async (url) => new Response(await readFile(url));`,
    after: `console.log((await memory.recall('${question}')).block.recall);`,
    prints: /Window seat, quiet coach/,
  },
];

const texts = await Promise.all(['../../../README.md', '../../../pkg/README.md'].map((file) => readFile(path(file), 'utf8')));
const blocks = texts.flatMap((text) => [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code));

test('each example is known here, and each that is known is there', () => {
  for (const code of blocks) assert.equal(examples.filter(({ of }) => code.includes(of)).length, 1, code);
  assert.equal(blocks.length, examples.length);
});

for (const { of, before = '', after = '', prints = /^$/, sends = [], only } of examples) {
  test(`it runs as it is written: ${of}`, async () => {
    const code = blocks.find((code) => code.includes(of));
    const file = join(dir, 'example.mjs');
    await writeFile(file, `${before}\n${code}\n${after}\n`);
    const asked = stub.requests.length;
    const { stdout, stderr } = await run(process.execPath, only === 'read' ? ['--check', file] : [file], { cwd: dir, timeout: 60_000 });
    assert.equal(stderr, '');
    assert.match(stdout, prints);
    const bodies = stub.requests.slice(asked).map(({ text }) => text);
    assert.equal(bodies.length, sends.length);
    sends.forEach((wanted, n) => assert.match(bodies[n], wanted));
  });
}
