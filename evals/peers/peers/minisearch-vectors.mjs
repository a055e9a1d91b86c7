// The hybrid that is written most often: a text index, a scan over vectors, reciprocal ranks added up.
import MiniSearch from 'minisearch';
import { pack, unpack } from '../pack.mjs';
import { DIMENSIONS, embed, nearest } from '../vectors.mjs';
import { options } from './minisearch.mjs';

const DEPTH = 50;
const K = 60;

export default {
  title: 'MiniSearch + vector scan',
  package: 'minisearch',
  kind: 'hybrid',
  ranking: 'BM25+ and cosine over Float32, reciprocal rank fusion',
  build(docs) {
    const index = new MiniSearch(options);
    index.addAll(docs);
    const rows = new Float32Array(docs.length * DIMENSIONS);
    docs.forEach(({ text }, id) => embed(text, rows.subarray(id * DIMENSIONS, (id + 1) * DIMENSIONS)));
    return pack(index.toJSON(), rows);
  },
  load(bytes) {
    const [json, rows] = unpack(bytes, Float32Array);
    return { index: MiniSearch.loadJS(json, options), rows };
  },
  query({ index, rows }, text, limit) {
    const scores = new Map();
    for (const ranking of [index.search(text).slice(0, DEPTH), nearest(rows, embed(text), DEPTH)]) {
      ranking.forEach(({ id }, rank) => scores.set(id, (scores.get(id) ?? 0) + 1 / (K + rank + 1)));
    }
    const best = [...scores].sort(([, a], [, b]) => b - a).slice(0, limit);
    return best.map(([id, score]) => ({ id, score, text: index.getStoredFields(id).text }));
  },
};
