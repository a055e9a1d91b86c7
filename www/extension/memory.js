// The memory on disk: a snapshot, and a journal of what happened since, both in the extension's own file system (OPFS). The service worker may be
// killed at any moment: whatever was confirmed is in one of the two.
import { Foreword } from './foreword/entry.default.js';

const SNAPSHOT = 'memory.fwd';
const JOURNAL = 'journal.jsonl';
/** Lines after which the journal is folded into the snapshot. */
const LONG = 200;

let opening;
let lines = 0;
/** Changes are written one after the other. */
let writing = Promise.resolve();

/** The memory, read from disk at the first use after the worker woke. */
export function open() {
  opening ??= read().catch((error) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

async function read() {
  const bytes = await bytesOf(SNAPSHOT);
  const memory = bytes.length ? await Foreword.load(bytes) : await Foreword.empty();
  const [head, ...rest] = new TextDecoder().decode(await bytesOf(JOURNAL)).split('\n').filter(Boolean);
  lines = 0;
  // A journal of another snapshot has been folded into this one already: the worker was killed between the two writes.
  if (head && parsed(head)?.over === memory.info().revision) {
    for (const line of rest) {
      const change = parsed(line);
      // Half a line is what was being written when the worker was killed; it was never confirmed.
      if (change) apply(memory, change);
      lines++;
    }
  }
  return memory;
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function apply(memory, { remember, forget }) {
  if (remember) memory.remember(remember);
  if (forget) for (const id of forget) memory.forget(id);
}

/** Makes a change: `{ remember: records }` or `{ forget: ids }`. Resolves when it is on disk. */
export function change(what) {
  const done = writing.then(async () => {
    const memory = await open();
    apply(memory, what);
    try {
      if (lines === 0) await write(JOURNAL, `${JSON.stringify({ over: memory.info().revision })}\n`);
      await append(JOURNAL, `${JSON.stringify(what)}\n`);
      if (++lines >= LONG) await fold(memory);
    } catch (error) {
      // Memory and disk differ: the disk is right.
      opening = undefined;
      throw error;
    }
  });
  writing = done.catch(() => {});
  return done;
}

async function fold(memory) {
  await write(SNAPSHOT, memory.compact());
  memory.dispose();
  opening = undefined;
  await write(JOURNAL, '');
  lines = 0;
}

/** Forgets everything. */
export function clear() {
  const done = writing.then(async () => {
    (await opening)?.dispose();
    opening = undefined;
    await write(SNAPSHOT, '');
    await write(JOURNAL, '');
    lines = 0;
  });
  writing = done.catch(() => {});
  return done;
}

async function file(name) {
  return (await navigator.storage.getDirectory()).getFileHandle(name, { create: true });
}

async function bytesOf(name) {
  return new Uint8Array(await (await (await file(name)).getFile()).arrayBuffer());
}

/** Takes effect as a whole when it is closed. */
async function write(name, content) {
  const writable = await (await file(name)).createWritable();
  await writable.write(content);
  await writable.close();
}

async function append(name, text) {
  const handle = await file(name);
  const writable = await handle.createWritable({ keepExistingData: true });
  await writable.write({ type: 'write', position: (await handle.getFile()).size, data: text });
  await writable.close();
}
