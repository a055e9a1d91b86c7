// Records as one string and one array of numbers, for the module's src/wasm/unpack.rs, which reads the same fields by the same numbers.

const put = {
  text: (out, value) => typeof value === 'string' && out.put(value),
  list: (out, value) => Array.isArray(value) && out.number(value.length) && value.every((item) => put.text(out, item)),
  flag: (out, value) => typeof value === 'boolean' && out.number(Number(value)),
  number: (out, value) => typeof value === 'number' && out.number(value),
  place: (out, value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32 && out.number(value),
  scope(out, value) {
    if (!isPlain(value)) return false;
    const dimensions = Object.entries(value);
    return out.number(dimensions.length) && dimensions.every(([name, owner]) => put.text(out, name) && put.text(out, owner));
  },
  source: (out, value) => fields(out, value, SOURCE),
};

/** By number: how a field is laid out, and its names. */
const named = (list) => new Map(list.flatMap(([how, ...names], number) => names.map((name) => [name, { number, put: put[how] }])));

const RECORD = named([
  ['text', 'id'],
  ['text', 'statement', 'text', 'content'],
  ['text', 'title'],
  ['text', 'kind'],
  ['text', 'topic'],
  ['text', 'subject'],
  ['text', 'predicate'],
  ['text', 'supersededBy', 'superseded_by'],
  ['list', 'cues'],
  ['list', 'tags'],
  ['list', 'entities'],
  ['list', 'supersedes'],
  ['text', 'created', 'timestamp', 'createdAt', 'created_at'],
  ['text', 'updated', 'updatedAt', 'updated_at'],
  ['text', 'validFrom', 'valid_from'],
  ['text', 'validUntil', 'valid_until'],
  ['text', 'expires', 'expiresAt', 'expires_at'],
  ['flag', 'unresolved'],
  ['number', 'confidence'],
  ['number', 'importance'],
  ['scope', 'scope'],
  ['source', 'source'],
]);

const SOURCE = named([['text', 'provider'], ['text', 'uri'], ['text', 'session'], ['text', 'speaker'], ['place', 'position']]);

/** Fields that the module reads and this does not: a record that has one, or says itself how it is written, crosses by itself. */
const OTHERS = new Set(['status', 'toJSON']);

function isPlain(value) {
  return value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
}

function fields(out, value, known) {
  if (!isPlain(value)) return false;
  const counted = out.numbers.push(0) - 1;
  let seen = 0;
  for (const name of Object.keys(value)) {
    const field = known.get(name);
    if (!field) {
      if (OTHERS.has(name)) return false;
      continue;
    }
    const bit = 1 << field.number;
    if (seen & bit) return false;
    seen |= bit;
    out.numbers.push(field.number);
    out.numbers[counted]++;
    if (!field.put(out, value[name])) return false;
  }
  return true;
}

/** Records that cross together. */
export class Batch {
  records = [];
  text = '';
  numbers = [];

  /** Puts a record in; false for one that has to cross by itself, because it is unusual or cannot be read. */
  add(record) {
    const { text } = this;
    const { length } = this.numbers;
    try {
      if (fields(this, record, RECORD)) {
        this.records.push(record);
        return true;
      }
    } catch {
      // Said by whoever reads it again.
    }
    this.text = text;
    this.numbers.length = length;
    return false;
  }

  /** The texts, as UTF-8. */
  get utf8() {
    return ENCODER.encode(this.text);
  }

  get isFull() {
    return this.records.length >= MOST_RECORDS || this.text.length >= MOST_UNITS;
  }

  put(text) {
    this.text += text;
    return this.number(text.length);
  }

  number(number) {
    this.numbers.push(number);
    return true;
  }
}

const ENCODER = new TextEncoder();

const MOST_RECORDS = 32;
const MOST_UNITS = 1 << 15;
