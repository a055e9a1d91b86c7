// How long a page is held while a snapshot of 10,000 records is built in it, or in a worker, and while 1,000 recalls run: the processor time of
// each task of the page's main thread, which other programs on the machine do not change. Figures are printed; FOREWORD_RECORDS sets another size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browse, open, project, put, serve } from './lab.mjs';

const { dir } = await project();
await put(dir, {
  'index.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
import { Foreword, buildSnapshot } from './node_modules/foreword/entry.default.js';
import { records } from './records.js';

const given = [...records(Number(new URLSearchParams(location.search).get('records')))];
let bytes;
let memory;
globalThis.work = {
  async build() {
    ({ bytes } = await buildSnapshot({ records: given }));
  },
  async beside() {
    const worker = new Worker('./build.js', { type: 'module' });
    globalThis.built = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(Number(new URLSearchParams(location.search).get('records')));
    });
    worker.terminate();
  },
  same: () => built.length === bytes.length && built.every((byte, at) => byte === bytes[at]),
  async load() {
    memory = await Foreword.load(bytes);
  },
  async recalls() {
    for (let n = 0; n < 1000; n++) await memory.recall(given[(n * 7919) % given.length].statement.split(' ').slice(0, 7).join(' ') + '?');
  },
};
</script>`,
  'build.js': `
import { buildSnapshot } from './node_modules/foreword/entry.default.js';
import { records } from './records.js';
onmessage = async ({ data: count }) => {
  const { bytes } = await buildSnapshot({ records: records(count) });
  postMessage(bytes, [bytes.buffer]);
};
`,
  'records.js': `
/** Statements of some forty words, of a vocabulary as skewed as that of real notes. */
export function* records(count) {
  let seed = 42;
  const random = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648);
  const syllables = ['ba', 'ke', 'lo', 'mi', 'nu', 'ra', 'se', 'ti', 'vo', 'du', 'fa', 'gel', 'har', 'jin', 'kor', 'lam'];
  const word = () => {
    let rank = Math.floor(20000 ** random());
    let text = '';
    do { text += syllables[rank % 16]; rank = Math.floor(rank / 16); } while (rank);
    return text;
  };
  for (let n = 0; n < count; n++) {
    yield { id: 'r' + n, statement: Array.from({ length: 20 + Math.floor(random() * 40) }, word).join(' ') + '.', entities: [word()], created: Date.UTC(2025, 0, 1) + n * 3600000 };
  }
}
`,
});

/** Processor time of the tasks of the page's main thread while it does something, longest first, in milliseconds. */
async function tasks(page, part) {
  await page.tracing.start({ categories: ['toplevel', '__metadata'] });
  const begun = performance.now();
  await page.evaluate((part) => globalThis.work[part](), part);
  const took = performance.now() - begun;
  const { traceEvents } = JSON.parse(new TextDecoder().decode(await page.tracing.stop()));
  const runs = traceEvents.filter(({ name, ph, tdur }) => /RunTask$/.test(name) && ph === 'X' && tdur !== undefined);
  const main = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ pid, tid }) => `${pid}/${tid}`));
  const times = runs.filter(({ pid, tid }) => main.has(`${pid}/${tid}`)).map(({ tdur }) => tdur / 1000);
  return { took, times: times.sort((a, b) => b - a) };
}

test('a page is not held', async (t) => {
  const page = await open(await browse('chrome'), `${await serve({ '/': dir })}/?records=${process.env.FOREWORD_RECORDS ?? 10000}`);
  await page.waitForFunction(() => globalThis.work !== undefined);
  for (const part of ['build', 'beside', 'load', 'recalls']) {
    const { took, times } = await tasks(page, part);
    t.diagnostic(`${part}: ${took.toFixed(0)} ms; ${times.length} tasks, longest ${times.slice(0, 6).map((ms) => ms.toFixed(1)).join(', ')} ms of processor time, ${times.filter((ms) => ms > 16).length} over 16`);
    // Not how long they take, which is the machine's affair, but that others get their turn.
    if (part === 'build' || part === 'recalls') assert.ok(times.length > 20, `${part}: ${times.length} tasks`);
  }
  assert.ok(await page.evaluate(() => globalThis.work.same()), 'a worker builds the same bytes');
  assert.deepEqual(page.faults, []);
});
