// Markdown notes in a folder: Node, Deno, Bun.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isNote, skipped } from './markdown.js';

/** The notes below a folder, in order of their names; links are not followed. */
export async function* folder(root, path = '') {
  const entries = await readdir(join(root, path), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (skipped(entry.name)) continue;
    if (entry.isDirectory()) yield* folder(root, `${path}${entry.name}/`);
    else if (entry.isFile() && isNote(entry.name)) yield { path: `${path}${entry.name}`, text: await readFile(join(root, path, entry.name), 'utf8') };
  }
}
