// A process of its own: loads a snapshot and asks it. Arguments: peer, file of the snapshot, file of the prompts, and `cold` to stop after the first answer.
import { readFileSync } from 'node:fs';
import { summary } from './stats.mjs';

const LIMIT = 10;
const [peer, snapshot, questions, only] = process.argv.slice(2);
const prompts = JSON.parse(readFileSync(questions, 'utf8'));

const memory = () => {
  gc();
  return process.memoryUsage().rss;
};
const before = memory();
let bytes = new Uint8Array(readFileSync(snapshot));
const [start, busy] = [performance.now(), process.cpuUsage()];
const { default: asked } = await import(`./peers/${peer}.mjs`);
const loaded = await asked.load(bytes);
await asked.query(loaded, prompts[0].text, LIMIT);
const coldMs = performance.now() - start;
const { user, system } = process.cpuUsage(busy);
bytes = undefined;
const result = { coldMs, coldCpuMs: (user + system) / 1000 };

if (only !== 'cold') {
  for (const { text } of prompts) await asked.query(loaded, text, LIMIT);
  const [times, answers] = [[], []];
  for (const { text } of prompts) {
    const start = performance.now();
    const hits = await asked.query(loaded, text, LIMIT);
    times.push(performance.now() - start);
    if (hits.some((hit) => hit.text.length === 0)) throw new Error('a hit has no text');
    answers.push(hits.map(({ id }) => id));
  }
  // What was only needed for the way here is given back by now, where it can be.
  await new Promise((resolve) => setTimeout(resolve, 100));
  Object.assign(result, summary(times, answers, prompts), { memoryBytes: memory() - before });
}
console.log(JSON.stringify(result));
process.exit();
