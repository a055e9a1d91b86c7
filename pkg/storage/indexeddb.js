// IndexedDB: pages, workers, extensions.
import { checkedName } from './name.js';

const SNAPSHOTS = 'snapshots';

/** Snapshots in a database of this origin. */
export function indexedDb({ database = 'foreword' } = {}) {
  let opening;
  const open = () => {
    opening ??= opened(database, () => (opening = undefined)).catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const run = async (mode, act) => {
    const transaction = (await open()).transaction(SNAPSHOTS, mode);
    return new Promise((resolve, reject) => {
      const request = act(transaction.objectStore(SNAPSHOTS));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  };
  return {
    get: async (name) => run('readonly', (snapshots) => snapshots.get(checkedName(name))),
    async put(name, bytes) {
      await run('readwrite', (snapshots) => snapshots.put(bytes, checkedName(name)));
    },
    async delete(name) {
      await run('readwrite', (snapshots) => snapshots.delete(checkedName(name)));
    },
  };
}

function opened(database, closed) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(SNAPSHOTS);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const opened = request.result;
      // Another page wants to delete the database: it would wait for us.
      opened.onversionchange = () => (opened.close(), closed());
      opened.onclose = closed;
      resolve(opened);
    };
  });
}
