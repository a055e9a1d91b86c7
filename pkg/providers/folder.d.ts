import type { Note } from './markdown.js';

/** The `.md` files below a folder, but not in `node_modules` or what begins with a dot; links are not followed. */
export function folder(path: string): AsyncGenerator<Note>;
