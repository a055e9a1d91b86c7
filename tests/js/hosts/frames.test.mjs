// How long a page is held while a snapshot of 10,000 records is built in it and in a worker (`beside`), and 1,000 recalls run. Figures are printed; FOREWORD_RECORDS sets another size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browse, open, printed, project, put, serve } from './lab.mjs';

const { dir } = await project();
await put(dir, {
  'index.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
import { Foreword, buildSnapshot } from './node_modules/foreword/entry.default.js';
import { records } from './records.js';

/** The longest and the mean time between two turns of the event loop, and how many of them were over a frame. */
async function watched(work) {
  const held = [];
  let last = performance.now();
  let on = true;
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const now = performance.now();
    held.push(now - last);
    last = now;
    if (on) channel.port2.postMessage(0);
  };
  channel.port2.postMessage(0);
  const begun = performance.now();
  const result = await work();
  const took = performance.now() - begun;
  await new Promise((resolve) => setTimeout(resolve, 50));
  on = false;
  held.sort((a, b) => b - a);
  return { result, took, turns: held.length, longest: held.slice(0, 8), over: held.filter((ms) => ms > 16).length };
}

await Foreword.empty();
const given = [...records(Number(new URLSearchParams(location.search).get('records') ?? 10000))];
const build = await watched(() => buildSnapshot({ records: given }));
const beside = await watched(async () => {
  const worker = new Worker('./build.js', { type: 'module' });
  const bytes = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(given);
  });
  worker.terminate();
  return bytes;
});
const same = beside.result.length === build.result.bytes.length && beside.result.every((byte, at) => byte === build.result.bytes[at]);
const load = await watched(() => Foreword.load(build.result.bytes));
const recalls = await watched(async () => {
  for (let n = 0; n < 1000; n++) await load.result.recall(given[(n * 7919) % given.length].statement.split(' ').slice(0, 7).join(' ') + '?');
});
globalThis.printed = JSON.stringify({ same, beside: { ...beside, result: 0 }, build: { ...build, result: 0 }, load: { ...load, result: 0 }, recalls: { ...recalls, result: 0 } });
</script>`,
  'build.js': `
import { buildSnapshot } from './node_modules/foreword/entry.default.js';
onmessage = async ({ data: records }) => {
  const { bytes } = await buildSnapshot({ records });
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

test('a page is not held', async (t) => {
  const page = await open(await browse('chrome'), `${await serve({ '/': dir })}/?records=${process.env.FOREWORD_RECORDS ?? 10000}`);
  const measured = JSON.parse(await printed(page, 300_000));
  for (const part of ['build', 'beside', 'load', 'recalls']) {
    const { took, turns, longest, over } = measured[part];
    t.diagnostic(`${part}: ${took.toFixed(0)} ms, ${turns} turns, longest ${longest.map((ms) => ms.toFixed(1)).join(', ')} ms, ${over} over 16 ms`);
    // Not how long they are, which is the machine's affair, but that there are any: nobody else got one before.
    if (part !== 'load') assert.ok(turns > 20, `${part}: ${turns} turns`);
  }
  assert.ok(measured.same, 'a worker builds the same bytes');
});
