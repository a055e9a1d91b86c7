// The main job, end to end: notes in, snapshot built by the native command, loaded through the wasm module, prompts asked.
//
//   node www/demo.mjs                        the sample notes and their prompts
//   node www/demo.mjs "What do I pack?"      your own prompt over the sample notes
//   node www/demo.mjs --notes DIR [PROMPT]   any folder of Markdown notes, or a file of records (JSONL)
//   node www/demo.mjs --ask                  prompts typed in, one a line, until an empty one
//   node www/demo.mjs --brief                one line a prompt
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Foreword } from '../pkg/entry.node.js';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const color = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (color ? `\x1b[${code}m${text}\x1b[0m` : `${text}`);
const [bold, dim, green, red, yellow, cyan] = ['1', '2', '32', '31', '33', '36'].map(paint);

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    notes: { type: 'string' },
    ask: { type: 'boolean' },
    brief: { type: 'boolean' },
    now: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (options.help) {
  const source = readFileSync(here('./demo.mjs'), 'utf8');
  console.log(source.split('\n').filter((line) => line.startsWith('//')).map((line) => line.slice(3)).join('\n'));
  process.exit(0);
}

const sample = !options.notes;
const notes = options.notes ?? here('./notes');
// The sample notes are a story with dates; it is told from its own present.
const now = options.now ?? (sample ? '2025-12-01' : undefined);

const snapshot = build(notes);
const started = performance.now();
const memory = await Foreword.load(snapshot, { providers: providers() });
const info = memory.info();
console.log(
  `${bold('loaded')} ${info.records} records, ${info.catalog.topics.length} topics, ${kilobytes(snapshot.length)} through the wasm module in ` +
    `${(performance.now() - started).toFixed(1)} ms (compiling included)\n`,
);

let wrong = 0;
if (options.ask) await ask();
else if (positionals.length) await show({ text: positionals.join(' ') });
else if (sample) {
  const prompts = readFileSync(here('./demo-prompts.jsonl'), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  for (const prompt of prompts) await show(prompt);
  console.log(wrong ? red(`${wrong} of ${prompts.length} prompts did not come out as expected`) : green(`all ${prompts.length} prompts came out as expected`));
  console.log(dim('Ask your own: cargo xtask demo "…", or cargo xtask demo --ask'));
} else await ask();
memory.dispose();
process.exitCode = wrong ? 1 : 0;

function build(path) {
  const command = here(`../target/release/foreword${process.platform === 'win32' ? '.exe' : ''}`);
  if (!existsSync(command)) throw new Error(`${command} is missing: run cargo xtask demo, which builds it`);
  const folder = mkdtempSync(join(tmpdir(), 'foreword-'));
  const file = join(folder, 'notes.fwd');
  try {
    execFileSync(command, ['build', path, '-o', file], { stdio: ['ignore', 'inherit', 'inherit'] });
    return readFileSync(file);
  } catch (error) {
    process.exit(error.status ?? 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Three providers as they are met in life: one answers, one hangs, one throws. */
function providers() {
  return [
    {
      id: 'team-calendar',
      description: 'Meetings and dates of the team',
      topics: '*',
      timeoutMs: 300,
      async search({ query, limit }) {
        const words = query.toLowerCase().match(/\p{L}{5,}/gu) ?? [];
        const entries = [
          { id: 'cal-1', title: 'Billing rewrite: weekly', text: 'Billing rewrite weekly with Oskar and Lotte, Tuesdays 10:00; the rounding of refunds is on the agenda.', kind: 'event', updated: '2025-11-25' },
          { id: 'cal-2', title: 'Rehearsal', text: 'Dress rehearsal for the winter release, 9 December.', kind: 'event', updated: '2025-11-20' },
          { id: 'cal-3', text: '' },
        ];
        // An entry without a text is malformed: it is counted as rejected.
        return entries.filter(({ text }) => !text || words.some((word) => text.toLowerCase().includes(word))).slice(0, limit);
      },
    },
    { id: 'slow-archive', description: 'Scanned paper', topics: '*', timeoutMs: 150, search: () => new Promise(() => {}) },
    {
      id: 'flaky-crm',
      description: 'Customers',
      topics: '*',
      timeoutMs: 300,
      search() {
        throw new Error('connection refused');
      },
    },
  ];
}

async function ask() {
  console.log(dim('Type a prompt; an empty line ends.'));
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
  lines.prompt();
  for await (const line of lines) {
    if (!line.trim()) break;
    await show({ text: line });
    lines.prompt();
  }
  lines.close();
}

async function show({ text, expect, shows }) {
  const begun = performance.now();
  const result = await memory.recall(text, { now });
  const took = performance.now() - begun;
  const { plan, evidence, block, providers: reports, degraded } = result;
  const verdict = check(result, expect);
  wrong += verdict.length ? 1 : 0;

  console.log(`${bold('▌ ' + text)}${shows ? dim(`   (${shows})`) : ''}`);
  const decision = plan.shouldRetrieve ? green('memory') : yellow('no memory');
  if (options.brief) {
    console.log(`  ${decision} ${plan.confidence.toFixed(2)}  ${evidence.map((item) => item.id).join(' ')}`);
  } else {
    console.log(`  plan      ${decision}, confidence ${plan.confidence.toFixed(2)}${plan.topics.length ? `, topics: ${plan.topics.join(', ')}` : ''}`);
    console.log(`            ${plan.reason}`);
    for (const request of plan.requests) console.log(`  ask       ${request.providerId}: ${dim(request.reason)}`);
    for (const report of reports) {
      const status = report.status === 'ok' ? green('ok') : red(report.status);
      console.log(`  provider  ${report.id}: ${status}, ${report.elapsedMs.toFixed(1)} ms, ${report.results} used, ${report.rejected} rejected${report.message ? dim(`  ${report.message}`) : ''}`);
    }
    evidence.forEach((item, place) => {
      const parts = item.components.map((part) => `${part.name} ${part.contribution >= 0 ? '+' : ''}${part.contribution.toFixed(3)}`).join('  ');
      console.log(`  ${String(place + 1).padStart(2)}. ${cyan(item.id)} ${dim(`(${item.providerId}, ${item.kind}, ${item.freshness})`)} ${item.score.toFixed(3)} = ${dim(parts)}`);
      console.log(`      ${item.reasons.join('; ')}`);
    });
    for (const fault of degraded) console.log(`  degraded  ${yellow(fault.message)}`);
    console.log(`  block     ${block.text.length ? `${Buffer.byteLength(block.text)} bytes, ${block.included.length} memories, ${block.omitted} omitted, fingerprint ${block.fingerprint}` : 'empty'}, whole recall ${took.toFixed(1)} ms`);
    if (block.recall) console.log(block.recall.trimEnd().split('\n').map((line) => dim('  │ ') + line).join('\n'));
  }
  for (const fault of verdict) console.log(`  ${red('✗ ' + fault)}`);
  console.log();
}

function check({ plan, evidence, block }, expect) {
  if (!expect) return [];
  const faults = [];
  const belongs = (item, note) => item.id === note || item.id.startsWith(`${note}#`);
  if (plan.shouldRetrieve !== expect.retrieve) faults.push(`expected ${expect.retrieve ? 'memory' : 'no memory'}`);
  if (!expect.retrieve && block.recall) faults.push('expected nothing to be injected');
  for (const note of expect.records) if (!evidence.some((item) => belongs(item, note))) faults.push(`${note} is missing`);
  for (const note of expect.absent) if (evidence.some((item) => belongs(item, note))) faults.push(`${note} must not be there`);
  return faults;
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(1)} kB`;
}
