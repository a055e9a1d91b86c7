import type { Foreword, Options, RecallOptions, RecallResult } from '../foreword.js';

/** A snapshot as a store gives it: bytes, or something of a known size that is copied while it arrives (a Blob, a File, an R2 object). */
export type StoredSnapshot = Uint8Array | ArrayBuffer | Blob | { readonly size: number; readonly body: ReadableStream<Uint8Array> };

/** Where snapshots are kept. Write your own with these three; names are made by `nameOf`. */
export interface SnapshotStore {
  /** Undefined or null if there is none. */
  get(name: string): Promise<StoredSnapshot | undefined | null>;
  /** Takes effect as a whole or not at all. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Does nothing if there is none. */
  delete(name: string): Promise<void>;
}

/** What is used of an R2 bucket. */
export interface R2Like {
  get(key: string): Promise<unknown>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  delete(key: string): Promise<unknown>;
}

/** What is used of a KV namespace. */
export interface KVLike {
  get(key: string, type: 'arrayBuffer'): Promise<ArrayBuffer | null>;
  put(key: string, value: Uint8Array): Promise<unknown>;
  delete(key: string): Promise<unknown>;
}

/** Cloudflare R2. Default prefix `foreword/`. */
export function r2(bucket: R2Like, options?: { prefix?: string }): SnapshotStore;

/** Cloudflare KV: snapshots of up to 25 MiB, else TOO_LARGE. What is put may take a minute to be seen elsewhere. Default prefix `foreword/`. */
export function kv(namespace: KVLike, options?: { prefix?: string }): SnapshotStore;

/** IndexedDB. Default database `foreword`. */
export function indexedDb(options?: { database?: string }): SnapshotStore;

/** The origin private file system; needs `createWritable` (Chromium 86, Firefox 111, Safari 26). Default folder `foreword`. */
export function opfs(options?: { folder?: string }): SnapshotStore;

/**
 * The name under which a tenant's snapshot is kept: another for every key, safe on every file system.
 * @throws ForewordError INVALID_REQUEST for an empty key, half a character, or more than 199 bytes, each but `a-z 0-9 - _` counted three times
 */
export function nameOf(tenant: string): string;

/** `Options` are those of every memory in it. */
export interface PoolOptions extends Options {
  /** The class that the package exports: with it comes the module. */
  Foreword: typeof Foreword;
  store: SnapshotStore;
  /** Of the instance that the memories are loaded into. Default 64 MiB, at least 4. */
  maxBytes?: number;
  /** After how long a memory that nobody is using is read from the store again, should another process write there. Default: never. */
  maxAgeMs?: number;
  /** How long the store, or room while all that is loaded is in use, is waited for. Default 5,000. */
  waitMs?: number;
}

/** A tenant's memory, loaded when it is asked: a `deadlineMs` that is given includes that. Each call may reject with the store's error, or as `Foreword.load` does. */
export interface Tenant {
  recall(prompt: string, options?: RecallOptions): Promise<RecallResult>;
  search(query: string, options?: RecallOptions): Promise<RecallResult>;
  browse(request?: Parameters<Foreword['browse']>[0]): Promise<ReturnType<Foreword['browse']>>;
  /** As `MemoryPool.use`. */
  use<T>(act: (memory: Foreword) => T | Promise<T>): Promise<T>;
}

/** Memories of many tenants, as many of them loaded as fit into `maxBytes`; the one that was not used the longest goes first. */
export class MemoryPool {
  /** @throws ForewordError INVALID_CONFIG */
  constructor(options: PoolOptions);
  /**
   * Take the key from the caller's authentication, never from the body of a request.
   * @throws ForewordError INVALID_REQUEST for a key that `nameOf` refuses
   */
  tenant(key: string): Tenant;
  /**
   * Does something with a tenant's memory, which stays loaded meanwhile, for a minute at least; it begins empty if the store has none. Resolves once what was learned is in
   * the store, and rejects if the store did not take it. Uses of one pool see each other's changes; of two processes that learn for one tenant at the
   * same time, the last one to write wins.
   * @throws ForewordError SNAPSHOT_CORRUPT, SNAPSHOT_VERSION (and is read from the store again next time), TOO_LARGE if there is no room, TIMEOUT if the store
   * does not answer
   */
  use<T>(key: string, act: (memory: Foreword) => T | Promise<T>): Promise<T>;
  /** Forgets a tenant, in the store too. */
  delete(key: string): Promise<void>;
  /** Of the memories loaded: how many, the bytes counted for them, and what the instance takes that they are in; and what has happened so far. */
  stats(): { loaded: number; bytes: number; memoryBytes: number; maxBytes: number; hits: number; loads: number; evictions: number; renewals: number };
  dispose(): void;
}
