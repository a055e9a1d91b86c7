// The origin private file system: pages, workers, extensions.
import { checkedName } from './name.js';

/** Snapshots in a folder of this origin's file system. */
export function opfs({ folder = 'foreword' } = {}) {
  const inside = async () => (await navigator.storage.getDirectory()).getDirectoryHandle(folder, { create: true });
  const file = (name) => `${checkedName(name)}.fwd`;
  return {
    async get(name) {
      const wanted = file(name);
      const handle = await unlessMissing((await inside()).getFileHandle(wanted));
      return handle?.getFile();
    },
    async put(name, bytes) {
      const handle = await (await inside()).getFileHandle(file(name), { create: true });
      // What was there stays until this is closed.
      const writable = await handle.createWritable();
      await writable.write(bytes);
      await writable.close();
    },
    async delete(name) {
      const wanted = file(name);
      await unlessMissing((await inside()).removeEntry(wanted));
    },
  };
}

function unlessMissing(promise) {
  return promise.catch((error) => {
    if (error?.name !== 'NotFoundError') throw error;
  });
}
