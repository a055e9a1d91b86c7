// Measures foreword and its peers in one run:
//   node run.mjs [--records 1000,10000,100000] [--hosts node,workerd] [--peers NAME,…] [--repeats 3] [--out results/peers.json]
// Every figure comes from a process of its own; `--out` is written after each peer, and report.mjs makes tables and a chart of it.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { prompts, statements } from './corpus.mjs';
import { median } from './stats.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const { values: given } = parseArgs({
  options: {
    records: { type: 'string', default: '1000,10000,100000' },
    hosts: { type: 'string', default: 'node,workerd' },
    peers: { type: 'string' },
    repeats: { type: 'string', default: '3' },
    out: { type: 'string', default: here('results/peers.json') },
  },
});
const sizes = given.records.split(',').map(Number);
const hosts = given.hosts.split(',');
const peers = given.peers?.split(',') ?? readdirSync(here('peers')).map((file) => file.replace('.mjs', '')).sort();
const repeats = Number(given.repeats);
const TIMEOUT_MS = 300_000;

if (!existsSync(here('../../pkg/wasm/foreword_bg.wasm'))) {
  console.error('The package is not built yet: cargo xtask build');
  process.exit(1);
}

const run = promisify(execFile);
async function child(script, ...args) {
  const options = ['--expose-gc', '--max-old-space-size=6144', '--no-warnings', here(script), ...args];
  const { stdout } = await run(process.execPath, options, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 1 << 26 });
  return JSON.parse(stdout.trim().split('\n').pop());
}

const installed = (name) => JSON.parse(readFileSync(here(`node_modules/${name}/package.json`), 'utf8')).version;
const results = [];
function save() {
  const machine = { cores: cpus().length, cpu: cpus()[0].model, node: process.versions.node, workerd: installed('workerd') };
  writeFileSync(given.out, `${JSON.stringify({ date: new Date().toISOString().slice(0, 10), ...machine, repeats, results }, null, 1)}\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'peers-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(130));

const started = Date.now();
const [snapshot, questions] = [join(folder, 'snapshot'), join(folder, 'prompts.json')];
let done = 0;
for (const records of sizes) {
  // Slow peers would take minutes over more.
  writeFileSync(questions, JSON.stringify(prompts(statements(records), records > 10_000 ? 200 : 500)));
  for (const peer of peers) {
    const { default: about } = await import(`./peers/${peer}.mjs`);
    const { title, package: name, kind, ranking, most = Infinity } = about;
    done++;
    if (records > most) continue;
    const row = { peer, title, version: name ? installed(name) : '', kind, ranking, records };
    results.push(row);
    const say = (what) => process.stderr.write(`[${done}/${sizes.length * peers.length}, ${Math.round((Date.now() - started) / 1000)} s] ${records} ${title}: ${what}\n`);
    try {
      say('building');
      Object.assign(row, await child('build.mjs', peer, String(records), snapshot));
      for (const host of hosts) {
        say(`asking in ${host}`);
        const measured = await child(`in-${host}.mjs`, peer, snapshot, questions);
        const colds = [measured];
        while (colds.length < repeats) colds.push(await child(`in-${host}.mjs`, peer, snapshot, questions, 'cold'));
        for (const key of ['coldMs', 'coldCpuMs']) if (key in measured) measured[key] = median(colds.map((cold) => cold[key]));
        row[host] = measured;
        say(`first answer ${measured.coldMs.toFixed(1)} ms, then p50 ${measured.p50.toFixed(3)} ms`);
      }
    } catch (error) {
      row.error = `${error.killed ? `longer than ${TIMEOUT_MS / 1000} s` : (error.stderr || error.message)}`.trim().split('\n').find((line) => /error/i.test(line)) ?? `${error.message}`;
      say(`FAILED: ${row.error}`);
    }
    save();
  }
}
process.exitCode = results.some((row) => row.error) ? 1 : 0;
