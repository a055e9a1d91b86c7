// Markdown notes, found by their words. The notes are read and ranked by the module, like everything else.
import { ForewordError } from '../errors.js';
import { Foreword, buildSnapshot } from '../foreword.js';
import { until } from './until.js';

/**
 * Notes as a provider. They are read at the first search, which may run into its timeout while later ones find them ready, and again after
 * `refresh()`; until that is done, the old ones answer.
 */
export function markdown({ notes, maxBytes = 16 << 20, ...spec }) {
  let reading;
  let memory;
  const read = async () => {
    const { bytes } = await buildSnapshot({ notes: bounded(typeof notes === 'function' ? notes() : notes, maxBytes) });
    const fresh = await Foreword.load(bytes, { config: { semanticTimeoutMs: 0 } });
    memory?.dispose();
    memory = fresh;
  };
  const refresh = () => {
    reading = read().catch((error) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  return {
    ...spec,
    refresh,
    async search({ query, limit, scope }, { signal } = {}) {
      if (!memory) await until(signal, reading ?? refresh());
      const { evidence } = await until(signal, memory.search(query, { limit, scope, signal }));
      return evidence.map(({ id, text, title, kind, topic, subject, predicate, score, changed, scope, unresolved, sources }) => ({
        ...{ id, text, title, kind, subject, predicate, score, scope, unresolved },
        ...(topic && { topic }),
        ...(changed && { updated: changed }),
        ...(sources[0]?.uri && { uri: sources[0].uri }),
      }));
    },
  };
}

/** The notes below a directory handle: of a page, or of the origin private file system. */
export async function* directory(handle, path = '') {
  for await (const [name, entry] of handle.entries()) {
    if (skipped(name)) continue;
    if (entry.kind === 'directory') yield* directory(entry, `${path}${name}/`);
    else if (isNote(name)) yield { path: `${path}${name}`, text: await (await entry.getFile()).text() };
  }
}

export function isNote(name) {
  return /\.(md|markdown)$/i.test(name);
}

/** What tools keep for themselves. */
export function skipped(name) {
  return name.startsWith('.') || name === 'node_modules';
}

async function* bounded(notes, maxBytes) {
  let length = 0;
  for await (const note of notes) {
    length += note.text.length;
    if (length > maxBytes) throw new ForewordError('TOO_LARGE', `the notes are longer than ${maxBytes} characters: raise maxBytes, or build a snapshot of them`);
    yield note;
  }
}
