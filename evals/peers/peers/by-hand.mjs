// What can be written by hand instead of taking a package: exact BM25 over typed arrays.
import { Best } from '../best.mjs';
import { pack, unpack } from '../pack.mjs';
import { words } from '../words.mjs';

const [K1, B] = [1.2, 0.75];

export default {
  title: 'BM25 by hand',
  kind: 'lexical',
  ranking: 'BM25, typed arrays',
  build(docs) {
    const lists = new Map();
    const lengths = new Uint32Array(docs.length);
    docs.forEach(({ text }, id) => {
      const counts = new Map();
      for (const word of words(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const [word, count] of counts) {
        lengths[id] += count;
        const list = lists.get(word);
        if (list) list.push(id, count);
        else lists.set(word, [id, count]);
      }
    });
    const ends = new Uint32Array(lists.size);
    let total = 0;
    [...lists.values()].forEach((list, term) => (ends[term] = total += list.length / 2));
    const [documents, counts] = [new Uint32Array(total), new Uint32Array(total)];
    let at = 0;
    for (const list of lists.values()) {
      for (let n = 0; n < list.length; n += 2, at++) [documents[at], counts[at]] = [list[n], list[n + 1]];
    }
    return pack({ terms: [...lists.keys()], texts: docs.map(({ text }) => text) }, ends, documents, counts, lengths);
  },
  load(bytes) {
    const [{ terms, texts }, ends, documents, counts, lengths] = unpack(bytes, Uint32Array, Uint32Array, Uint32Array, Uint32Array);
    const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    const norms = Float32Array.from(lengths, (length) => K1 * (1 - B + (B * length) / mean));
    return { numbers: new Map(terms.map((term, number) => [term, number])), texts, ends, documents, counts, norms, scores: new Float32Array(texts.length), touched: new Uint32Array(texts.length) };
  },
  query({ numbers, texts, ends, documents, counts, norms, scores, touched }, text, limit) {
    let seen = 0;
    for (const word of new Set(words(text))) {
      const term = numbers.get(word);
      if (term === undefined) continue;
      const [from, to] = [term ? ends[term - 1] : 0, ends[term]];
      const weight = (K1 + 1) * Math.log(1 + (texts.length - (to - from) + 0.5) / (to - from + 0.5));
      for (let at = from; at < to; at++) {
        const id = documents[at];
        if (scores[id] === 0) touched[seen++] = id;
        scores[id] += (weight * counts[at]) / (counts[at] + norms[id]);
      }
    }
    const best = new Best(limit);
    for (let at = 0; at < seen; at++) {
      best.offer(touched[at], scores[touched[at]]);
      scores[touched[at]] = 0;
    }
    return best.list.map(({ id, score }) => ({ id, score, text: texts[id] }));
  },
};
