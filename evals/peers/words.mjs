// What counts as a word, the same for every peer that can be told.

/** Words that carry no topic. */
export const STOP = new Set(
  `a about after again all also am an and any are as at be because been before but by can could did do does for from had has have he her
  here him his how i if in into is it its just like may me more most my no not now of on once only or other our out over said say she should
  so some such tell than that the their them then there these they this those to too under until up us was we were what when where which
  while who whom why will with would you your`.split(/\s+/),
);

/** The words of a text that may carry a topic, in lower case. */
export function words(text) {
  const found = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return found.filter((word) => !STOP.has(word));
}
