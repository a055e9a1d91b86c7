// A folder of files: Node, Deno, Bun.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkedName } from './name.js';

/** Snapshots in a folder, which is made when it is first written to. */
export function files(folder) {
  const path = (name) => join(folder, `${checkedName(name)}.fwd`);
  return {
    async get(name) {
      return readFile(path(name)).catch((error) => {
        if (error.code !== 'ENOENT') throw error;
      });
    },
    async put(name, bytes) {
      const whole = path(name);
      const half = `${whole}.${randomUUID()}`;
      await mkdir(folder, { recursive: true });
      try {
        const file = await open(half, 'wx');
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(half, whole);
      } catch (error) {
        await rm(half, { force: true });
        throw error;
      }
    },
    async delete(name) {
      await rm(path(name), { force: true });
    },
  };
}
