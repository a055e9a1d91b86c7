// A process of its own: builds a peer's snapshot and writes it. Arguments: peer, records, file of the snapshot.
import { writeFileSync } from 'node:fs';
import { statements } from './corpus.mjs';

const [peer, records, file] = process.argv.slice(2);
const docs = statements(Number(records));
const start = performance.now();
const { default: built } = await import(`./peers/${peer}.mjs`);
const bytes = await built.build(docs);
const buildMs = performance.now() - start;
writeFileSync(file, bytes);
console.log(JSON.stringify({ buildMs, snapshotBytes: bytes.length }));
