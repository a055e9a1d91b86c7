// Cloudflare KV.
import { ForewordError } from '../errors.js';
import { checkedName } from './name.js';

/** What KV takes, in bytes. */
const LARGEST = 25 << 20;

/** Snapshots in a namespace, under a prefix. What is put is seen elsewhere up to a minute later. */
export function kv(namespace, { prefix = 'foreword/' } = {}) {
  const key = (name) => `${prefix}${checkedName(name)}.fwd`;
  return {
    get: async (name) => (await namespace.get(key(name), 'arrayBuffer')) ?? undefined,
    async put(name, bytes) {
      if (bytes.length > LARGEST) throw new ForewordError('TOO_LARGE', `KV takes ${LARGEST} bytes and the snapshot has ${bytes.length}: keep it in R2`);
      await namespace.put(key(name), bytes);
    },
    async delete(name) {
      await namespace.delete(key(name));
    },
  };
}
