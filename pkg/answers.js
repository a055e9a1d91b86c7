// What the host's own functions answer with, as plain data. In the module, whatever throws while it is read would be its end: a getter, a proxy, an array that
// was handed over to a worker, an error whose message is no text.
import { UNREADABLE } from './plain.js';

/** Items taken over of a list of ids or results, more than any setting asks for. */
const MOST_ITEMS = 4096;
/** Topics and requests taken over of a plan. */
const MOST_WISHES = 256;
/** Dimensions of a scope; with more, the result is unreadable: without some of them it would be seen by more. */
const MOST_DIMENSIONS = 64;
/** The longest vector that is taken over. */
const LONGEST_VECTOR = 65_536;
/** The longest text, in UTF-16 units; the budgets cut further. */
const LONGEST_TEXT = 65_536;
/** The longest of what is said about a text, which no budget cuts. */
const LONGEST_LABEL = 4096;
/** The fields of a result, with the other names that they go by. */
const TEXTS = ['id', 'text', 'statement', 'content', 'body'];
const LABELS = [
  ...['title', 'score', 'kind', 'topic', 'subject', 'predicate', 'uri', 'url', 'session', 'speaker', 'updated', 'updatedAt', 'updated_at', 'created', 'createdAt'],
  ...['timestamp', 'expires', 'expiresAt', 'expires_at', 'superseded', 'unresolved', 'importance'],
];

/** A function whose promise resolves with plain data, or rejects with an Error that has a text, whatever the host's own one does. */
export function answering(call, read) {
  return (...asked) => {
    const answer = answered(call, asked, read);
    // Where the module is gone meanwhile, nobody listens.
    answer.catch(() => {});
    return answer;
  };
}

async function answered(call, asked, read) {
  try {
    return read(await call(...asked), ...asked);
  } catch (thrown) {
    throw new Error(textOf(thrown));
  }
}

function textOf(thrown) {
  try {
    const text = typeof thrown === 'string' ? thrown : thrown.message || thrown.name;
    if (typeof text === 'string' && text !== '') return text.slice(0, LONGEST_TEXT);
  } catch {
    // Nor can it be asked.
  }
  return 'it threw something that is no Error';
}

/** One vector a text, of whatever has a length and numbers. Read by its length: iterators may go on for ever, and what was handed over to a worker has none. */
export function vectors(answer, texts) {
  return items(answer, texts.length, (vector) => {
    if (typeof vector !== 'object' || vector === null || !(vector.length <= LONGEST_VECTOR)) return undefined;
    return Float32Array.from({ length: vector.length }, (_, at) => (typeof vector[at] === 'number' ? vector[at] : NaN));
  });
}

export function ids(answer) {
  return items(listed(answer, 'ids'), MOST_ITEMS, (item) => simple(isObject(item) ? item.id : item));
}

export function results(answer) {
  return items(listed(answer, 'results'), MOST_ITEMS, (item) => {
    if (!isObject(item)) return undefined;
    const result = { ...picked(item, TEXTS), ...picked(item, LABELS, LONGEST_LABEL) };
    const { scope } = item;
    if (scope !== undefined && scope !== null) result.scope = dimensions(scope);
    return result;
  });
}

export function plan(answer) {
  if (!isObject(answer)) return undefined;
  const proposed = picked(answer, ['shouldRetrieve', 'confidence', 'reason']);
  const { topics, requests } = answer;
  if (topics !== undefined) proposed.topics = items(topics, MOST_WISHES, (topic) => simple(topic))?.slice(0, MOST_WISHES) ?? UNREADABLE;
  if (requests !== undefined) proposed.requests = items(requests, MOST_WISHES, (item) => isObject(item) ? picked(item, ['providerId', 'query']) : UNREADABLE)?.slice(0, MOST_WISHES) ?? UNREADABLE;
  return proposed;
}

/** What a reconciliation answers with says nothing. */
export function nothing() {
  return undefined;
}

/** A list, also one under a name. */
function listed(answer, name) {
  const inner = isObject(answer) ? answer[name] : undefined;
  return Array.isArray(inner) ? inner : answer;
}

/** A list as long as the one given, so that what is passed over is counted; an item that throws costs itself. Undefined for what is no array. */
function items(list, most, read) {
  if (!Array.isArray(list)) return undefined;
  const copy = [];
  copy.length = list.length;
  for (let at = 0; at < Math.min(copy.length, most); at++) {
    try {
      copy[at] = read(list[at]);
    } catch {
      copy[at] = undefined;
    }
  }
  return copy;
}

function picked(item, names, longest) {
  const copy = {};
  for (const name of names) {
    const value = item[name];
    if (value !== undefined && value !== null) copy[name] = simple(value, longest);
  }
  return copy;
}

function simple(value, longest = LONGEST_TEXT) {
  if (typeof value === 'string') return value.slice(0, longest);
  if (value instanceof Date) return value.getTime();
  return isObject(value) || typeof value === 'function' ? UNREADABLE : value;
}

function dimensions(scope) {
  if (!isObject(scope) || Array.isArray(scope)) return UNREADABLE;
  const entries = scope instanceof Map ? [...scope] : Object.entries(scope);
  // What has dimensions in a way that is not seen here must not pass for what has none.
  if (entries.length > MOST_DIMENSIONS || (entries.length === 0 && !isEmpty(scope))) return UNREADABLE;
  return Object.fromEntries(entries.map(([name, value]) => [name, simple(value)]));
}

/** Nothing but a plain object, of this realm or another, or a Map. */
function isEmpty(value) {
  const prototype = Object.getPrototypeOf(value);
  return value instanceof Map || (!(Symbol.iterator in value) && (prototype === null || Object.getPrototypeOf(prototype) === null));
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}
