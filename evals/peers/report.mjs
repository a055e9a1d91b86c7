// Tables and a chart of what run.mjs measured: node report.mjs [results/peers.json] writes tables.md and chart.svg beside it.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = process.argv[2] ?? fileURLToPath(new URL('results/peers.json', import.meta.url));
const { date, cpu, cores, node, workerd, repeats, results } = JSON.parse(readFileSync(file, 'utf8'));
const digits = (value) => (value === undefined ? '–' : value >= 100 ? Math.round(value).toLocaleString('en') : value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(3));
const share = (value) => value.toFixed(3).replace(/^0/, '');
const rank = { recall: 0, hybrid: 1, lexical: 2 };
const ours = ({ peer }) => peer.startsWith('foreword');
const sorted = (records) => results.filter((row) => row.records === records).sort((a, b) => ours(b) - ours(a) || rank[a.kind] - rank[b.kind] || a.title.localeCompare(b.title));
const named = ({ title, version }) => (version ? `${title} ${version}` : title);
const sizes = [...new Set(results.map(({ records }) => records))];

const lines = [`${date}; ${cores} cores (${cpu}), Node ${node}, workerd ${workerd}; median of ${repeats} processes for the first answer.`];
for (const records of sizes) {
  for (const host of ['node', 'workerd']) {
    lines.push('', `${records.toLocaleString('en')} records, ${host === 'node' ? 'Node' : 'workerd'}`, '');
    lines.push('| | first answer, ms | p50 / p95 / p99, ms | memory, MB | snapshot, MB | build, ms | found |', '| --- | --- | --- | --- | --- | --- | --- |');
    for (const row of sorted(records)) {
      const asked = row[host];
      const cells = asked ? [digits(asked.coldMs), [asked.p50, asked.p95, asked.p99].map(digits).join(' / '), digits(asked.memoryBytes / 1e6), digits(row.snapshotBytes / 1e6), host === 'node' ? digits(row.buildMs) : '', share(asked.found)] : [row.error ?? '–', '', '', '', '', ''];
      lines.push(`| ${named(row)} | ${cells.join(' | ')} |`);
    }
  }
}
writeFileSync(join(dirname(file), 'tables.md'), `${lines.join('\n')}\n`);

// The chart: a panel a measure and size, logarithmic, in Node.
const MEASURES = [
  ['first answer, ms', (row) => row.node?.coldMs],
  ['query p50, ms', (row) => row.node?.p50],
  ['memory, MB', (row) => row.node && row.node.memoryBytes / 1e6],
  ['snapshot, MB', (row) => row.snapshotBytes / 1e6],
];
const [ROW, LABEL, PANEL, GAP, TOP] = [20, 190, 190, 20, 46];
const escape = (text) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const parts = [];
let y = 8;
for (const records of sizes.filter((records) => records >= 10_000)) {
  const rows = sorted(records);
  parts.push(`<text x="8" y="${y + 16}" font-weight="bold">${records.toLocaleString('en')} records</text>`);
  MEASURES.forEach(([what, of], column) => {
    const x = LABEL + column * (PANEL + GAP);
    const values = rows.map(of);
    const known = values.filter((value) => value > 0);
    // A bar has some length even for the least.
    const [low, high] = [Math.log(Math.min(...known)) - 0.7, Math.log(Math.max(...known))];
    parts.push(`<text x="${x}" y="${y + 34}" fill="#555">${what}</text>`);
    rows.forEach((row, line) => {
      const value = values[line];
      const at = y + TOP + line * ROW;
      if (column === 0) parts.push(`<text x="8" y="${at + 11}"${ours(row) ? ' font-weight="bold"' : ''}>${escape(row.title)}</text>`);
      if (!(value > 0)) return;
      const width = ((Math.log(value) - low) / (high - low || 1)) * (PANEL - 50);
      parts.push(`<rect x="${x}" y="${at}" width="${width.toFixed(1)}" height="14" fill="${ours(row) ? '#0f766e' : '#b4b8bf'}"/><text x="${(x + width + 4).toFixed(1)}" y="${at + 11}">${digits(value)}</text>`);
    });
  });
  y += TOP + rows.length * ROW + 18;
}
const width = LABEL + MEASURES.length * (PANEL + GAP);
parts.push(`<text x="8" y="${y + 8}" fill="#555">Less is better; logarithmic. Node ${node}, ${cores} cores, ${date}.</text>`);
const style = 'font-family="system-ui, sans-serif" font-size="12" fill="#1c1f24"';
writeFileSync(join(dirname(file), 'chart.svg'), `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 20}" ${style}>\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`);
