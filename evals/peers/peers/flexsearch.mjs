import FlexSearch from 'flexsearch';
import { fromBytes, toBytes } from '../pack.mjs';
import { words } from '../words.mjs';

const empty = () => new FlexSearch.Index({ tokenize: 'strict', encode: words });

export default {
  title: 'FlexSearch',
  package: 'flexsearch',
  kind: 'lexical',
  ranking: 'its own, by place in the text; `suggest` for OR',
  async build(docs) {
    const index = empty();
    for (const { id, text } of docs) index.add(id, text);
    const parts = {};
    await index.export((key, part) => {
      if (part) parts[key] = part;
    });
    return toBytes({ parts, texts: docs.map(({ text }) => text) });
  },
  load(bytes) {
    const { parts, texts } = fromBytes(bytes);
    const index = empty();
    for (const [key, part] of Object.entries(parts)) index.import(key, part);
    return { index, texts };
  },
  query: ({ index, texts }, text, limit) => index.search(text, { limit, suggest: true }).map((id) => ({ id: Number(id), score: 0, text: texts[id] })),
};
