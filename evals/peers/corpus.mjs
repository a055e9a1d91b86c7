// Statements as an assistant would remember them, and questions about them: English words by frequency, topics, names, dates and figures in
// sentences. The same count gives the same texts on every machine.
import { createRequire } from 'node:module';
import { STOP, words } from './words.mjs';

const NAMES = 'Agnes Bilal Corinna Davor Edda Farid Greta Henning Ilse Jaro Katya Leon Mirela Nuno Odile Pavel Quentin Runa Samir Thea Ugo Vera Wanda Xenia Yusuf Zita'.split(' ');
const SENTENCES = [
  '{name} said that the {word} of the {word} has to be {word} before the {word}.',
  'On {date} we chose the {word} {word} for the {word}, because {word} and {word} were too {word}.',
  'The {word} is kept with the {word}, not in the {word} {word}.',
  'I prefer {word} to {word} when there is a {word} in the {word}.',
  'There were {number} {word} in the {word} of {name}, and {number} of them had a {word} {word}.',
  'After the {word} with {name} the {word} was moved to {date}.',
  'Ask {name} about the {word} {word} and its {word}.',
  'My {word} has a {word} {word}; it was {word} by {name} in {date}.',
  'The {word} failed with {word} {number} while the {word} was {word}.',
  'For a {word} like this we use {word}, {word} and some {word}.',
];
const QUESTIONS = ['What do you know about {it}?', 'When did we talk about {it}?', 'Which {it} was that?', 'Why did I choose {it}?', 'Who had {it}?', 'How should I go on with {it}?', 'Remind me of {it}.', 'Is there anything on {it}?'];
const TOPICS = 400;
const TOPIC_WORDS = 90;

/** Numbers from 0 to 1 by a 32-bit xorshift. */
function source(seed) {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Places 0 to `count` - 1, each about 1 / (place + shift) as often. */
function ranked(random, count, shift) {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let place = 0; place < count; place++) sums[place] = sum += 1 / (place + shift);
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

function vocabulary() {
  const random = source(11);
  const all = createRequire(import.meta.url)('an-array-of-english-words').filter((word) => word.length > 2 && word.length < 13 && !STOP.has(word));
  // Frequent words are short, though not all short ones are frequent.
  return all.map((word) => [word.length + 7 * random(), word]).sort(([a], [b]) => a - b).slice(0, 50_000).map(([, word]) => word);
}

/** `[{ id, text }]`, ids from 0; two to four sentences each. */
export function statements(count) {
  const random = source(23);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const all = vocabulary();
  const common = ranked(random, all.length, 25);
  const topics = Array.from({ length: TOPICS }, () => Array.from({ length: TOPIC_WORDS }, () => all[common()]));
  const ofTopic = ranked(random, TOPIC_WORDS, 3);
  const two = (number) => String(number).padStart(2, '0');
  return Array.from({ length: count }, (_, id) => {
    const topic = pick(topics);
    const slots = {
      name: () => pick(NAMES),
      word: () => (random() < 0.45 ? topic[ofTopic()] : all[common()]),
      number: () => 2 + Math.floor(random() * 900),
      date: () => `${2019 + Math.floor(random() * 7)}-${two(1 + Math.floor(random() * 12))}-${two(1 + Math.floor(random() * 28))}`,
    };
    const sentence = () => pick(SENTENCES).replace(/\{(\w+)\}/g, (_, slot) => slots[slot]());
    return { id, text: Array.from({ length: 2 + Math.floor(random() * 3) }, sentence).join(' ') };
  });
}

/** `[{ text, id }]`: each asks for two to seven words of one statement; in every third one of them is another statement's. */
export function prompts(docs, count) {
  const random = source(31 + docs.length);
  const below = (limit) => Math.floor(random() * limit);
  const contents = () => {
    const id = below(docs.length);
    return { id, known: [...new Set(words(docs[id].text))] };
  };
  return Array.from({ length: count }, () => {
    const { id, known } = contents();
    const chosen = [];
    for (let wanted = 2 + below(6); chosen.length < wanted && known.length; ) chosen.push(...known.splice(below(known.length), 1));
    if (random() < 1 / 3) chosen[below(chosen.length)] = contents().known[0];
    const it = `the ${chosen.join(random() < 0.5 ? ' and the ' : ' ')}`;
    return { id, text: QUESTIONS[below(QUESTIONS.length)].replace('{it}', it) };
  });
}
