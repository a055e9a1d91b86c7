import type { Provider } from '../foreword.js';
import type { Spec } from './spec.js';

export interface Note {
  path: string;
  text: string;
}

export interface MarkdownOptions extends Spec {
  /** The notes, or what reads them anew: `() => directory(handle)`, or `() => folder(path)` of `foreword/providers/folder`. */
  notes: Iterable<Note> | AsyncIterable<Note> | (() => Iterable<Note> | AsyncIterable<Note>);
  /** Of all notes, in characters. Default 16 Mi; more is a failure of this provider. */
  maxBytes?: number;
}

/** Notes with their front matter, found by their words. They are read at the first search, and again after `refresh()`; the old ones answer meanwhile. */
export function markdown(options: MarkdownOptions): Provider & { refresh(): Promise<void> };

/** The `.md` files below a directory handle, but not in `node_modules` or what begins with a dot. */
export function directory(handle: FileSystemDirectoryHandle): AsyncGenerator<Note>;
