// Records and notes to the bytes of a snapshot.
import { ForewordError, checkKeys, checkText, reading } from './errors.js';
import { another, current, init } from './instance.js';
import { SLICE_MS, pacer, turn } from './pace.js';
import { still } from './plain.js';
import { Batch } from './records.js';
import { tableOf } from './source.js';

/**
 * Builds a snapshot, a few milliseconds at a time, so that a page stays responsive; in an instance of its own, whose memory is given back with it.
 * `notes` are `{ path, text }` Markdown files; what is wrong with one is in `reports` and costs only itself.
 */
export async function buildSnapshot(options) {
  const given = reading(() => ({ ...options }));
  await init(given.module);
  const { records, topics, entities, notes, sliceMs = SLICE_MS, index, onProgress } = given;
  if (typeof sliceMs !== 'number') throw new ForewordError('INVALID_CONFIG', `sliceMs is a number of milliseconds, not ${typeof sliceMs}`);
  if (onProgress !== undefined && typeof onProgress !== 'function') throw new ForewordError('INVALID_CONFIG', `onProgress is a function, not ${typeof onProgress}`);
  reading(() => checkKeys(index, current().run((api) => api.defaults()).index, 'index', 'INVALID_CONFIG'), 'INVALID_CONFIG');
  const table = tableOf(given.staticTable);
  const instance = await another();
  const builder = reading(() => instance.run(({ WasmBuilder }) => new WasmBuilder(index, instance.table(table))), 'INVALID_CONFIG');
  const reports = [];
  const pause = pacer(sliceMs);
  const { records: noted, ...read } = await readNotes(instance, listed(notes, 'notes'), pause, reports);
  reports.push(...read.reports);
  for await (const topic of both(read.topics, listed(topics, 'topics'))) put(instance, topic, (topic) => builder.addTopic(topic));
  for await (const entity of both(read.entities, listed(entities, 'entities'))) put(instance, entity, (entity) => builder.addEntity(entity));
  const add = (record) => {
    try {
      put(instance, record, (record) => builder.add(record));
    } catch (error) {
      if (error.code !== 'INVALID_RECORD') throw error;
      reports.push(skipped(() => record.id, error.message));
    }
  };
  let batch = new Batch();
  const flush = () => {
    while (batch.records.length) {
      const { records, utf8, numbers } = batch;
      batch = new Batch();
      const added = instance.run(() => builder.addBatch(utf8, numbers));
      if (added === records.length) return;
      // What was refused is given once more by itself, which says why.
      add(records[added]);
      records.slice(added + 1).forEach(give);
    }
  };
  const give = (record) => {
    const fits = batch.add(record);
    if (!fits || batch.isFull) flush();
    if (!fits) add(record);
  };
  for await (const record of both(noted, listed(records, 'records'))) {
    give(record);
    await pause();
  }
  flush();
  // A record at a time at first: in a cold module they take milliseconds each.
  for (let size = 1, done = false; !done; ) {
    const began = performance.now();
    done = instance.run(() => builder.step(size));
    const took = performance.now() - began;
    if (took < STEP_MS / 2) size = Math.min(2 * size, MOST_RECORDS);
    else if (took > STEP_MS) size = Math.ceil(size / 2);
    if (await pause()) onProgress?.(builder.progress());
  }
  onProgress?.(1);
  for (const id of instance.run(() => builder.flagged())) {
    reports.push({ file: id, line: undefined, skipped: false, message: 'reads like an instruction to a model: it is kept, and says so where it is shown' });
  }
  await turn();
  const bytes = await copied(instance, instance.run(() => builder.finish()), pause);
  return { bytes, reports };
}

function put(instance, given, add) {
  reading(() => {
    const plain = still(given);
    instance.run(() => add(plain));
  }, 'INVALID_RECORD');
}

/** How long a step of the builder should take, in milliseconds: little of a slice. */
const STEP_MS = 1;

/** Records of a step at most: one phase's may take much longer than those of the one before. */
const MOST_RECORDS = 64;

/** Bytes copied at a time. */
const PIECE = 1 << 20;

async function copied(instance, [address, length], pause) {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += PIECE) {
    await pause();
    bytes.set(instance.peek([address + at, Math.min(PIECE, length - at)]), at);
  }
  return bytes;
}

async function readNotes(instance, notes, pause, reports) {
  const reader = instance.run(({ WasmNotes }) => new WasmNotes());
  for await (const note of notes) {
    try {
      const { path, text } = reading(() => ({ path: note.path, text: note.text }));
      checkText(path, 'the path of a note');
      checkText(text, 'the text of a note');
      instance.run(() => reader.add(path, text));
    } catch (error) {
      if (error.code !== 'INVALID_REQUEST') throw error;
      reports.push(skipped(() => note.path, error.message));
    }
    await pause();
  }
  return instance.run(() => reader.finish());
}

/** What could not be read, by its name where it has one. */
function skipped(name, message) {
  let file;
  try {
    file = name();
  } catch {
    // It has none that can be read.
  }
  return { file: typeof file === 'string' ? file : '', line: undefined, skipped: true, message };
}

/** What may be gone through; what goes wrong while it is gone through is its source's own error. */
function listed(given, what) {
  if (given === undefined) return [];
  const iterable = reading(() => given !== null && (typeof given[Symbol.asyncIterator] === 'function' || typeof given[Symbol.iterator] === 'function'));
  if (!iterable) throw new ForewordError('INVALID_REQUEST', `${what} are a list, or an iterable or async iterable`);
  return given;
}

async function* both(first, second) {
  yield* first;
  yield* second;
}
