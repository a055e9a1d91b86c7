// The package bundled as it is, without a plugin or a setting for it, and the bundle run.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bin, browse, open, printed, project, put, run, same, serve } from './lab.mjs';

const { dir } = await project();
const app = (from) => `
import * as foreword from '${from}';
import { given } from './given.js';
import { vector } from './vector.mjs';
globalThis.printed = await vector(foreword, given);
globalThis.done?.();
`;
await put(dir, {
  'index.html': '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="./main.js"></script>',
  'main.js': app('foreword'),
  'inline.js': app('foreword/inline') + '\nif (globalThis.process) console.log(globalThis.printed);',
  'worker.js': `
import * as foreword from 'foreword';
import { given } from './given.js';
import { vector } from './vector.mjs';
export default { fetch: async () => new Response(await vector(foreword, given)) };
`,
});
const runIn = async (which, out) => printed(await open(await browse(which), await serve({ '/': out })));

test('Vite', async () => {
  const { build } = await import('vite');
  // The program awaits at its top: older targets know no such thing.
  await build({ root: dir, logLevel: 'error', build: { target: 'es2022', outDir: 'vite' } });
  const assets = await readdir(join(dir, 'vite/assets'));
  assert.equal(assets.filter((file) => file.endsWith('.wasm')).length, 1, assets.join());
  await same('Vite', await runIn('chrome', join(dir, 'vite')));
});

test('webpack', async () => {
  const { default: webpack } = await import('webpack');
  const compiler = webpack({ mode: 'production', context: dir, entry: './main.js', output: { path: join(dir, 'webpack'), filename: 'main.js' } });
  const stats = await new Promise((resolve, reject) => compiler.run((error, stats) => (error ? reject(error) : resolve(stats))));
  await new Promise((resolve) => compiler.close(resolve));
  assert.equal(stats.hasErrors(), false, stats.toString({ all: false, errors: true }));
  assert.deepEqual(stats.toJson({ all: false, warnings: true }).warnings.filter(({ message }) => !/size limit|performance/i.test(message)), []);
  await put(join(dir, 'webpack'), { 'index.html': '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="./main.js"></script>' });
  await same('webpack', await runIn('chrome', join(dir, 'webpack')));
});

test('esbuild, which copies no files: the inline entry', async () => {
  const { build } = await import('esbuild');
  const outfile = join(dir, 'esbuild/main.mjs');
  const { warnings } = await build({ absWorkingDir: dir, entryPoints: ['inline.js'], bundle: true, minify: true, format: 'esm', outfile, logLevel: 'silent' });
  assert.deepEqual(warnings, []);
  const { stdout } = await run(process.execPath, [outfile], { maxBuffer: 1 << 26 });
  await same('esbuild', stdout.trim());
});

test('wrangler, and its bundle in workerd', async () => {
  await put(dir, { 'wrangler.json': JSON.stringify({ name: 'app', main: 'worker.js', compatibility_date: '2026-11-01' }) });
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1', HOME: dir, XDG_CONFIG_HOME: dir };
  await run(process.execPath, [bin('wrangler'), 'deploy', '--dry-run', '--outdir', 'wrangler'], { cwd: dir, env }).catch((error) => assert.fail(`${error.stdout}${error.stderr}`));
  const files = await readdir(join(dir, 'wrangler'));
  const wasm = files.filter((file) => file.endsWith('.wasm'));
  assert.equal(wasm.length, 1, files.join());
  const { Miniflare, convertV4MiniflareOptions } = await import('miniflare');
  const worker = new Miniflare(convertV4MiniflareOptions({
    compatibilityDate: '2026-11-01',
    modules: [
      { type: 'ESModule', path: 'worker.js', contents: await readFile(join(dir, 'wrangler/worker.js'), 'utf8') },
      { type: 'CompiledWasm', path: wasm[0], contents: await readFile(join(dir, 'wrangler', wasm[0])) },
    ],
  }));
  after(() => worker.dispose());
  await same('workerd', await (await worker.dispatchFetch('http://localhost/')).text());
});
