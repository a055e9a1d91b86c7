// What `foreword/workers` adds to a request: the same requests through it and past it, in turn, to an upstream that answers at once. Argument: records, 10,000 by default.
import { Foreword, buildSnapshot } from 'foreword';
import { withForeword } from 'foreword/workers';
import { prompts, statements } from './corpus.mjs';
import { percentile } from './stats.mjs';

const records = Number(process.argv[2] ?? 10_000);
const docs = statements(records);
const { bytes } = await buildSnapshot({ records: docs.map(({ id, text }) => ({ id: String(id), statement: text })) });
const memory = await Foreword.load(bytes);
let attached = 0;
/** Reads the request to its end, as sending it would. */
const forward = async (request) => {
  if ((await request.text()).includes('<memory-')) attached++;
  return new Response('{}');
};
const ways = { 'past it': forward, 'through it': withForeword({ memory, scope: () => ({}), forward }) };
const times = { 'past it': [], 'through it': [] };
const history = Array.from({ length: 10 }, (_, turn) => ({ role: turn % 2 ? 'assistant' : 'user', content: docs[turn].text }));
for (const round of ['warm-up', 'timed']) {
  attached = 0;
  for (const { text } of prompts(docs, 1000)) {
    const body = JSON.stringify({ model: 'stub', messages: [...history, { role: 'user', content: text }] });
    for (const [name, way] of Object.entries(ways)) {
      const request = new Request('http://model.test/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      const start = performance.now();
      await (await way(request)).text();
      if (round === 'timed') times[name].push(performance.now() - start);
    }
  }
}
console.log(`${records} records, 1,000 requests, ${attached} with a block`);
for (const [name, taken] of Object.entries(times)) console.log(`${name.padEnd(12)} p50 ${percentile(taken, 0.5).toFixed(3)} ms  p99 ${percentile(taken, 0.99).toFixed(3)} ms`);
memory.dispose();
