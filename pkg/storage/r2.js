// Cloudflare R2.
import { checkedName } from './name.js';

/** Snapshots in a bucket, under a prefix. */
export function r2(bucket, { prefix = 'foreword/' } = {}) {
  const key = (name) => `${prefix}${checkedName(name)}.fwd`;
  return {
    /** The object itself: its length is known, and its body is copied while it arrives. */
    get: async (name) => (await bucket.get(key(name))) ?? undefined,
    async put(name, bytes) {
      await bucket.put(key(name), bytes);
    },
    async delete(name) {
      await bucket.delete(key(name));
    },
  };
}
