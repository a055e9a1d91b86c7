// What is in the tarball, and whether the tools that judge packages find fault with it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { bin, project, put, run } from './lab.mjs';

const { dir, tarball, files } = await project();

test('the tarball holds what is needed, and nothing else', async () => {
  const kinds = [/^[\w.-]+\.js$/, /^[\w.-]+\.d\.ts$/, /^wasm\/(foreword|inline)\.js$/, /^wasm\/foreword_bg\.wasm$/, /^static\/(foreword-static-v1\.bin|README\.md)$/, /^(README|LICENSE-\w+|package\.json)/, /^[\w-]+\/[\w.-]+\.(js|d\.ts)$/];
  for (const file of files) assert.ok(kinds.some((kind) => kind.test(file)), `${file} has no business there`);
  for (const needed of ['foreword.js', 'foreword.d.ts', 'wasm/foreword_bg.wasm', 'README.md', 'LICENSE-MIT', 'LICENSE-APACHE']) assert.ok(files.includes(needed), needed);
  const { exports, scripts } = JSON.parse(await readFile(join(dir, 'node_modules/foreword/package.json'), 'utf8'));
  assert.equal(scripts, undefined, 'installing runs nothing');
  const targets = JSON.stringify(exports).match(/"\.\/[^"]+"(?=[,}])/g).map((target) => JSON.parse(target).slice(2));
  for (const target of targets) assert.ok(files.includes(target), `exports names ${target}, which is not there`);
});

test('no file names a source map: the module is stripped and the JavaScript is shipped as it was written', async () => {
  for (const file of files.filter((file) => file.endsWith('.js'))) {
    assert.doesNotMatch(await readFile(join(dir, 'node_modules/foreword', file), 'utf8'), /sourceMappingURL/, file);
  }
});

test('publint finds nothing', async () => {
  const { publint } = await import('publint');
  const { messages } = await publint({ pkgDir: join(dir, 'node_modules/foreword'), strict: true });
  assert.deepEqual(messages, []);
});

test('attw finds nothing', async () => {
  const data = ['./foreword.wasm', './static/foreword-static-v1.bin', './package.json'];
  await run(process.execPath, [bin('attw'), tarball, '--profile', 'esm-only', '--exclude-entrypoints', ...data]).catch((error) => assert.fail(`${error.stdout}${error.stderr}`));
});

test('the types say what a program may write, with every module resolution that people use', async () => {
  await put(dir, {
    'use.ts': `
import { Foreword, ForewordError, buildSnapshot, checkCitations, init, type Evidence, type Provider, type RecallResult } from 'foreword';
import { Foreword as Inline } from 'foreword/inline';
import { init as begin } from 'foreword/core';
import module from 'foreword/foreword.wasm';
import { MemoryPool, indexedDb, nameOf, opfs, type SnapshotStore } from 'foreword/storage';
import { files } from 'foreword/storage/files';
import { searchHandler, withForeword } from 'foreword/workers';
import { foreword as remembering } from 'foreword/ai-sdk';
import { foreword, type HonoContext } from 'foreword/hono';
import { registerMemoryTools } from 'foreword/mcp';
import { d1 } from 'foreword/providers/d1';
import { folder } from 'foreword/providers/folder';
import { http } from 'foreword/providers/http';
import { markdown } from 'foreword/providers/markdown';
import { postgres } from 'foreword/providers/postgres';

const provider: Provider = { id: 'p', search: async ({ query, limit }, { signal }) => (signal.aborted ? [] : [{ id: 1, text: query.slice(0, limit) }]) };
const { bytes, reports } = await buildSnapshot({ notes: [{ path: 'a.md', text: '# A' }], staticTable: new Uint8Array() });
const line: number | null | undefined = reports[0]?.line;
using memory = await Foreword.load(fetch('/memory.fwd'), { providers: [provider], config: { deadlineMs: 100 } });
const result: RecallResult = await memory.recall('x', { scope: { tenant: 'a' }, now: new Date() });
const evidence: Evidence[] = result.evidence;
checkCitations('[a]', result).unknown satisfies string[];
await init(module);
await begin(module);
await Inline.load(bytes);
const stores: SnapshotStore[] = [indexedDb(), opfs(), files('x'), { get: async () => new Blob(), put: async () => {}, delete: async () => {} }];
const learned: string[] = await new MemoryPool({ Foreword, store: stores[0]!, maxBytes: 1 << 26 }).use(nameOf('a'), (memory) => memory.remember([]));
const database = { prepare: (sql: string) => ({ bind: (...params: unknown[]) => ({ all: async () => ({ results: [sql, params] }) }) }) };
const client = { query: async (sql: string, params: unknown[]) => ({ rows: [sql, params] }) };
const notes = markdown({ id: 'n', notes: () => folder('x'), topics: '*' });
await notes.refresh();
await Foreword.empty({ providers: [notes, d1({ id: 'd', database }), postgres({ id: 'p', client, embed: () => [1] }), http({ id: 'h', url: 'https://x.example' })] });
const pool = new MemoryPool({ Foreword, store: stores[0]! });
const whose = { memory: ({ scope }: { scope: Record<string, string> }) => pool.tenant(scope.tenant!), scope: () => ({ tenant: 'a' }) };
const answers: ((request: Request) => Promise<Response>)[] = [withForeword(whose), searchHandler(whose)];
answers satisfies unknown[];
const middleware: (c: HonoContext, next: () => Promise<void>) => Promise<void> = foreword(whose);
middleware satisfies unknown;
remembering({ memory: ({ scope }) => pool.tenant(scope.tenant!), scope: () => ({ tenant: 'a' }) }) satisfies { specificationVersion: 'v4' };
registerMemoryTools satisfies unknown;
// @ts-expect-error a prompt is a string
await memory.recall(3);
// @ts-expect-error there is no such option
await memory.recall('x', { scpoe: {} });
// @ts-expect-error it is loaded, not constructed
new Foreword();
try { memory.remember({ id: 'a', statement: 'b' }); } catch (error) { if (error instanceof ForewordError) console.log(error.code satisfies string, line, evidence, learned); }
export {};
`,
  });
  for (const resolution of ['bundler', 'nodenext']) {
    const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
    const args = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--module', module, '--moduleResolution', resolution, '--types', '', 'use.ts'];
    await run(bin('tsc'), args, { cwd: dir }).catch((error) => assert.fail(`${resolution}: ${error.stdout}${error.stderr}`));
  }
});
