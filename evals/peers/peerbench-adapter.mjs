// foreword as a peer of a side-by-side benchmark: copy it into the benchmark's adapters/ (once per mode, under any name).
//   FOREWORD_PKG    folder of the npm package; default: ../../pkg beside this file, else the installed `foreword`
//   FOREWORD_MODE   hybrid (default), lexical, or recall; a copy named *lexical* or *recall* takes that mode by its name
import fs from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const name = fileURLToPath(import.meta.url);
const named = ['lexical', 'recall'].find((mode) => name.includes(`${mode}.mjs`));
const mode = named ?? process.env.FOREWORD_MODE ?? 'hybrid';

function packageEntry() {
  const beside = fileURLToPath(new URL('../../pkg/', import.meta.url));
  const folder = process.env.FOREWORD_PKG ?? (fs.existsSync(`${beside}entry.node.js`) ? beside : undefined);
  return folder ? pathToFileURL(`${folder}/entry.node.js`).href : 'foreword';
}

export default {
  name: `foreword ${mode}`,
  pkg: null,
  kind: mode === 'lexical' ? 'lexical' : 'hybrid',
  ranking: mode === 'lexical' ? 'BM25' : 'BM25 + hash embedding, weighted merge',
  async: true,
  async init() {
    const foreword = await import(packageEntry());
    await foreword.init();
    return foreword;
  },
  async build({ buildSnapshot }, docs) {
    const records = docs.map(({ id, text }) => ({ id: String(id), statement: text }));
    const { bytes, reports } = await buildSnapshot({ records });
    if (reports.length) throw new Error(reports[0].message);
    return bytes;
  },
  serialize: (_, bytes) => bytes,
  // A semantic timeout of zero switches the semantic ranking off.
  load: ({ Foreword }, bytes) => Foreword.load(bytes, mode === 'lexical' ? { config: { semanticTimeoutMs: 0 } } : {}),
  async query(_, memory, { text }, k) {
    const { evidence } = mode === 'recall' ? await memory.recall(text, { limit: k }) : await memory.search(text, { limit: k });
    return evidence.map(({ id, score, text }) => ({ id: Number(id), score, text }));
  },
  close: (_, memory) => memory.dispose?.(),
  bundle: null,
};
