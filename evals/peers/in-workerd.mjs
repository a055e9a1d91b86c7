// A process of its own: the same as in-node.mjs in workerd, which miniflare starts. Same arguments.
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { summary } from './stats.mjs';

const [peer, snapshot, questions, only] = process.argv.slice(2);
const prompts = JSON.parse(readFileSync(questions, 'utf8'));

const modules = [];
/** WebAssembly stays a module beside the script, as a Worker needs it. */
const beside = {
  name: 'beside',
  setup(esbuild) {
    esbuild.onResolve({ filter: /\.wasm$/ }, async ({ path, resolveDir, pluginData }) => {
      if (pluginData === 'beside') return undefined;
      const found = await esbuild.resolve(path, { resolveDir, kind: 'import-statement', pluginData: 'beside' });
      const name = found.path.split(/[\\/]/).pop();
      modules.push({ type: 'CompiledWasm', path: name, contents: readFileSync(found.path) });
      return { path: `./${name}`, external: true };
    });
  },
};
const here = new URL('.', import.meta.url);
const { outputFiles } = await build({
  stdin: { contents: `export { default } from './peers/${peer}.mjs';`, resolveDir: here.pathname },
  bundle: true,
  write: false,
  format: 'esm',
  minify: true,
  conditions: ['workerd', 'worker', 'browser'],
  plugins: [beside],
  logLevel: 'error',
});
modules.unshift(
  { type: 'ESModule', path: 'worker.mjs', contents: readFileSync(new URL('worker.mjs', here), 'utf8') },
  { type: 'ESModule', path: 'peer.mjs', contents: outputFiles[0].text },
);

const { pid } = process;
const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
const others = new Set(children());
const workerd = new Miniflare({ compatibilityDate: '2026-04-01', modules });
await workerd.ready;
const ask = async (path, body) => {
  const response = await workerd.dispatchFetch(`http://peer.test${path}`, { method: 'POST', body });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};
await ask('/nothing', '');
const [host] = children().filter((child) => !others.has(child) && readFileSync(`/proc/${child}/comm`, 'utf8').trim() === 'workerd');
const memory = () => 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${host}/status`, 'utf8'))[1]);

const before = memory();
await ask('/take', readFileSync(snapshot));
const result = await ask('/load', prompts[0].text);
if (only !== 'cold') {
  const { times, answers } = await ask('/ask', JSON.stringify(prompts.map(({ text }) => text)));
  Object.assign(result, summary(times, answers, prompts), { memoryBytes: memory() - before });
}
console.log(JSON.stringify(result));
await workerd.dispose();
process.exit();
