// A local embedding for the peers that bring none, of the kind that foreword's default is: words, pairs of words and three letters in a row,
// hashed into 384 dimensions with a sign.
import { Best } from './best.mjs';
import { words } from './words.mjs';

export const DIMENSIONS = 384;

function hash(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

export function embed(text, into = new Float32Array(DIMENSIONS)) {
  const add = (feature, weight) => {
    const at = hash(feature);
    into[at % DIMENSIONS] += at & 0x40000000 ? weight : -weight;
  };
  let before = '';
  for (const word of words(text)) {
    add(word, 1);
    if (before) add(`${before} ${word}`, 0.5);
    for (let at = 0; at + 3 <= word.length; at++) add(`~${word.slice(at, at + 3)}`, 0.3);
    before = word;
  }
  const length = Math.hypot(...into) || 1;
  for (let at = 0; at < DIMENSIONS; at++) into[at] /= length;
  return into;
}

/** The `limit` rows nearest to a vector, by a scan of all. */
export function nearest(rows, vector, limit) {
  const best = new Best(limit);
  for (let start = 0, id = 0; start < rows.length; start += DIMENSIONS, id++) {
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let at = 0; at < DIMENSIONS; at += 4) {
      a += rows[start + at] * vector[at];
      b += rows[start + at + 1] * vector[at + 1];
      c += rows[start + at + 2] * vector[at + 2];
      d += rows[start + at + 3] * vector[at + 3];
    }
    best.offer(id, a + b + c + d);
  }
  return best.list;
}
