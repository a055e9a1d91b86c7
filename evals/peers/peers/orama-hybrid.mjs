import { load, save, search } from '@orama/orama';
import { fromBytes, toBytes } from '../pack.mjs';
import { DIMENSIONS, embed } from '../vectors.mjs';
import { empty, insert } from './orama.mjs';

const schema = { vector: `vector[${DIMENSIONS}]` };

export default {
  title: 'Orama hybrid',
  package: '@orama/orama',
  kind: 'hybrid',
  ranking: 'BM25 and cosine, its own fusion',
  // Its snapshot is JSON, and at 100,000 records longer than the longest string there is.
  most: 10_000,
  async build(docs) {
    const db = empty(schema);
    await insert(db, docs.map(({ id, text }) => ({ id: String(id), text, vector: Array.from(embed(text)) })));
    return toBytes(save(db));
  },
  load(bytes) {
    const db = empty(schema);
    load(db, fromBytes(bytes));
    return db;
  },
  async query(db, text, limit) {
    const vector = { value: Array.from(embed(text)), property: 'vector' };
    const { hits } = await search(db, { mode: 'hybrid', term: text, vector, similarity: 0.2, limit, threshold: 1 });
    return hits.map(({ id, score, document }) => ({ id: Number(id), score, text: document.text }));
  },
};
