import MiniSearch from 'minisearch';
import { fromBytes, toBytes } from '../pack.mjs';
import { STOP } from '../words.mjs';

export const options = {
  fields: ['text'],
  storeFields: ['text'],
  processTerm: (term) => {
    const lower = term.toLowerCase();
    return STOP.has(lower) ? null : lower;
  },
};

export default {
  title: 'MiniSearch',
  package: 'minisearch',
  kind: 'lexical',
  ranking: 'BM25+, OR, whole words',
  build(docs) {
    const index = new MiniSearch(options);
    index.addAll(docs);
    return toBytes(index);
  },
  load: (bytes) => MiniSearch.loadJS(fromBytes(bytes), options),
  query: (index, text, limit) => index.search(text).slice(0, limit).map(({ id, score, text }) => ({ id, score, text })),
};
