// Records and notes to the bytes of a snapshot.
import { checkKeys, isTyped } from './errors.js';
import { another, current, init } from './instance.js';
import { SLICE_MS, pacer, turn } from './pace.js';
import { tableOf } from './source.js';

/**
 * Builds a snapshot, a few milliseconds at a time, so that a page stays responsive; in an instance of its own, whose memory is given back with it.
 * `notes` are `{ path, text }` Markdown files; what is wrong with one is in `reports` and costs only itself.
 */
export async function buildSnapshot({
  records = [],
  topics = [],
  entities = [],
  notes = [],
  index,
  staticTable,
  onProgress,
  module,
  sliceMs = SLICE_MS,
} = {}) {
  await init(module);
  checkKeys(index, current().run((api) => api.defaults()).index, 'index', 'INVALID_CONFIG');
  const table = tableOf(staticTable);
  const instance = await another();
  const builder = instance.run(({ WasmBuilder }) => new WasmBuilder(index, instance.table(table)));
  const reports = [];
  const pause = pacer(sliceMs);
  const { records: noted, ...read } = await readNotes(instance, notes, pause);
  reports.push(...read.reports);
  for await (const topic of both(read.topics, topics)) instance.run(() => builder.addTopic(topic));
  for await (const entity of both(read.entities, entities)) instance.run(() => builder.addEntity(entity));
  for await (const record of both(noted, records)) {
    try {
      instance.run(() => builder.add(record));
    } catch (error) {
      if (!isTyped(error) || error.code !== 'INVALID_RECORD') throw error;
      reports.push({ file: record?.id ?? '', line: undefined, skipped: true, message: error.message });
    }
    await pause();
  }
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

async function readNotes(instance, notes, pause) {
  const reader = instance.run(({ WasmNotes }) => new WasmNotes());
  for await (const { path, text } of notes) {
    instance.run(() => reader.add(path, text));
    await pause();
  }
  return instance.run(() => reader.finish());
}

async function* both(first, second) {
  yield* first;
  yield* second;
}
