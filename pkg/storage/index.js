// Snapshots of many tenants: where they are kept, and which of them are loaded.
export { MemoryPool } from './pool.js';
export { indexedDb } from './indexeddb.js';
export { kv } from './kv.js';
export { nameOf } from './name.js';
export { opfs } from './opfs.js';
export { r2 } from './r2.js';
