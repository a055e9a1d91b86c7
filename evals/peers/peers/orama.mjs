import { create, insertMultiple, load, save, search } from '@orama/orama';
import { fromBytes, toBytes } from '../pack.mjs';
import { STOP } from '../words.mjs';

export const empty = (more = {}) => create({ schema: { text: 'string', ...more }, components: { tokenizer: { language: 'english', stemming: false, stopWords: [...STOP] } } });
export const insert = (db, docs) => insertMultiple(db, docs, 5000);

export default {
  title: 'Orama',
  package: '@orama/orama',
  kind: 'lexical',
  // `exact` would ask for every word.
  ranking: 'BM25, OR, prefixes',
  async build(docs) {
    const db = empty();
    await insert(db, docs.map(({ id, text }) => ({ id: String(id), text })));
    return toBytes(save(db));
  },
  load(bytes) {
    const db = empty();
    load(db, fromBytes(bytes));
    return db;
  },
  async query(db, text, limit) {
    const { hits } = await search(db, { term: text, limit, threshold: 1 });
    return hits.map(({ id, score, document }) => ({ id: Number(id), score, text: document.text }));
  },
};
