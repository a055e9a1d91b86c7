// Memories of many tenants in one place, as many at a time as fit.
import { ForewordError } from '../errors.js';
import { Home } from '../instance.js';
import { LONGEST_MS, inTime } from '../pace.js';
import { viewOf } from '../source.js';
import { nameOf } from './name.js';

/** What a loaded memory takes beside its snapshot, in bytes (5 KB measured). */
const EACH = 8 << 10;
/** What was learned takes as often the length of its JSON: the records, their index, and the JSON, which is kept. */
const LEARNED = 4;
/** An instance of the module with nothing loaded. */
const BARE = 1280 << 10;
/** Of the bound: the rest is for gaps between memories, and for what recalls take while they run. */
const FILL = 0.7;
/**
 * After how long a use is taken for one that will never end, in milliseconds: where a host ends a request, as Workers do when the client has gone, what it
 * was awaiting never comes.
 */
const ABANDONED_MS = 60_000;
/** A load waits for the store, for room, and for the snapshot to arrive. */
const WAITS = 3;
/** Length of what was learned after which a memory is loaded anew, with it in the snapshot. */
const FOLD = 256 << 10;

/** Loads tenants' memories when they are asked for, and lets go of those that were not asked for the longest. */
export class MemoryPool {
  #Foreword;
  #store;
  #options;
  #maxBytes;
  #maxAgeMs;
  #waitMs;
  #home = new Home();
  /** By name, the one used last at the end. */
  #entries = new Map();
  /** Of all that is loaded or being loaded, in use or not. */
  #taken = 0;
  #waiting = [];
  #counts = { hits: 0, loads: 0, evictions: 0, renewals: 0 };

  constructor({ Foreword, store, maxBytes = 64 << 20, maxAgeMs = Infinity, waitMs = 5000, ...options } = {}) {
    if (typeof Foreword?.load !== 'function') throw wrong('Foreword is the class that the package exports');
    for (const method of ['get', 'put', 'delete']) if (typeof store?.[method] !== 'function') throw wrong(`a store has a method \`${method}\``);
    for (const [name, value] of Object.entries({ maxBytes, maxAgeMs, waitMs })) if (typeof value !== 'number') throw wrong(`${name} is a number, not ${typeof value}`);
    if (!(maxAgeMs >= 0 && waitMs > 0)) throw wrong('maxAgeMs and waitMs are milliseconds, and waitMs is more than none');
    if (!(maxBytes >= 4 << 20)) throw wrong('maxBytes is at least 4 MiB: the module itself takes more than one');
    this.#Foreword = Foreword;
    this.#store = store;
    this.#options = options;
    this.#maxBytes = maxBytes;
    this.#maxAgeMs = maxAgeMs;
    this.#waitMs = waitMs;
  }

  /** A tenant's memory as something to ask: loaded when it is asked, and only then. */
  tenant(key) {
    const name = nameOf(key);
    const reading = (act) => this.#with(name, act);
    // Loading is part of what an answer takes.
    const asking = (options, act) => {
      const since = performance.now();
      const left = () => ({ ...options, deadlineMs: Math.max(0, options.deadlineMs - (performance.now() - since)) });
      return reading((memory) => act(memory, typeof options?.deadlineMs === 'number' ? left() : options));
    };
    return {
      recall: (prompt, options) => asking(options, (memory, options) => memory.recall(prompt, options)),
      search: (query, options) => asking(options, (memory, options) => memory.search(query, options)),
      browse: (request) => reading((memory) => memory.browse(request)),
      use: (act) => this.use(key, act),
    };
  }

  /**
   * Does something with a tenant's memory, which stays loaded meanwhile; one that has no snapshot begins empty. Resolves with what `act`
   * returns, once what it taught the memory is in the store; rejects if the store did not take it, and then it is not known any more.
   */
  use(key, act) {
    return this.#with(nameOf(key), async (memory, entry) => {
      try {
        return await act(memory);
      } finally {
        await this.#save(entry);
      }
    });
  }

  /** Forgets a tenant, in the store too. Uses on their way still end, but save nothing. */
  async delete(key) {
    const name = nameOf(key);
    const entry = this.#entries.get(name);
    if (entry) {
      entry.lost = new ForewordError('INVALID_REQUEST', 'the tenant was deleted meanwhile: what was learned is not kept');
      this.#drop(entry);
      await entry.saving?.catch(() => {});
    }
    await this.#store.delete(name);
  }

  /** `bytes` are counted for the memories that are loaded; `memoryBytes` is what the instance takes that they are loaded into. */
  stats() {
    return { loaded: this.#entries.size, bytes: this.#taken, memoryBytes: this.#home.bytes, maxBytes: this.#maxBytes, ...this.#counts };
  }

  /** Lets go of everything; what is in use goes when it no longer is. */
  dispose() {
    for (const entry of [...this.#entries.values()]) this.#drop(entry);
    this.#home.leave();
  }

  async #with(name, act) {
    const entry = this.#entry(name);
    entry.users++;
    entry.used = Date.now();
    try {
      await this.#patiently(entry.loading, this.#waitMs * WAITS);
      return await act(entry.memory, entry);
    } finally {
      entry.users--;
      if (entry.stale && !busy(entry)) this.#drop(entry);
      if (entry.dropped) this.#free(entry);
      this.#trim();
      for (const go of this.#waiting.splice(0)) go();
    }
  }

  /** A tenant has one entry, so that concurrent loads are one, and what one use learned is not overwritten by another. */
  #entry(name) {
    let entry = this.#entries.get(name);
    const age = Date.now() - (entry?.since ?? 0);
    // A load that somebody else began may have been abandoned.
    if (entry && (entry.memory ? !busy(entry) && age >= this.#maxAgeMs : age >= this.#waitMs * WAITS)) {
      this.#drop(entry);
      entry = undefined;
    }
    if (entry) {
      this.#counts.hits++;
      this.#entries.delete(name);
    } else {
      entry = { name, users: 0, used: 0, bytes: 0, saved: 0, since: Date.now() };
      entry.loading = this.#load(entry);
      entry.loading.catch(() => {});
    }
    this.#entries.set(name, entry);
    return entry;
  }

  async #load(entry) {
    this.#counts.loads++;
    try {
      const got = (await this.#patiently(this.#store.get(entry.name))) ?? undefined;
      const snapshot = got && (viewOf(got) ?? (sizeOf(got) === undefined ? viewOf(await got.arrayBuffer()) : got));
      await this.#reserve(entry, (snapshot ? sizeOf(snapshot) : 0) + EACH);
      const Foreword = this.#Foreword;
      entry.memory = await (snapshot ? Foreword.load(snapshot, this.#options, this.#home) : Foreword.empty(this.#options, this.#home));
      this.#take(entry, entry.memory.size.snapshot + EACH);
      if (entry.dropped) this.#free(entry);
    } catch (error) {
      this.#drop(entry);
      throw error;
    }
  }

  /** One after the other: a later one holds what an earlier one did. */
  async #save(entry) {
    const { memory } = entry;
    while (entry.saving && !entry.lost) {
      const { saving } = entry;
      // Whoever began it is told what went wrong, if that is still there to be told.
      await this.#patiently(saving).catch(() => {
        if (entry.saving === saving) entry.saving = undefined;
      });
    }
    if (memory.size.learned === entry.saved) return;
    if (entry.lost) throw entry.lost;
    const bytes = memory.compact();
    const { learned } = memory.size;
    const saving = this.#put(entry.name, bytes);
    entry.saving = saving;
    try {
      await this.#patiently(saving);
    } catch (error) {
      // The store is right, and everybody who had learned something is told.
      entry.lost = error;
      this.#drop(entry);
      throw error;
    } finally {
      if (entry.saving === saving) entry.saving = undefined;
    }
    // Folded, its calls are few again, but not what it has taken in.
    if (learned > FOLD || learned < entry.saved) entry.stale = true;
    entry.saved = learned;
    this.#take(entry, memory.size.snapshot + EACH + learned * LEARNED);
  }

  /** What could not be loaded again is not kept: what is there can be. */
  async #put(name, bytes) {
    this.#checkSize(bytes.length + EACH);
    await this.#store.put(name, bytes);
  }

  #checkSize(size) {
    if (size > this.#limit()) throw new ForewordError('TOO_LARGE', `the memory takes ${size} bytes, and a pool of maxBytes ${this.#maxBytes} has room for ${this.#limit()}`);
  }

  /** Waits for the store, but not for ever. */
  #patiently(promise, ms = this.#waitMs) {
    return inTime(promise, ms, () => new ForewordError('TIMEOUT', `the store has not answered within ${ms} ms`));
  }

  #limit() {
    const table = this.#options.staticTable?.byteLength ?? 0;
    return Math.floor((this.#maxBytes - BARE - table) * FILL);
  }

  /** Makes room, and waits for it where all that is loaded is in use. */
  async #reserve(entry, size) {
    this.#checkSize(size);
    const limit = this.#limit();
    const until = performance.now() + this.#waitMs;
    for (;;) {
      this.#evict(limit - size);
      if (this.#taken + size <= limit) return this.#take(entry, size);
      const left = until - performance.now();
      if (left <= 0) throw new ForewordError('TOO_LARGE', `all that is loaded has been in use for ${this.#waitMs} ms: raise maxBytes, or use fewer tenants at a time`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, LONGEST_MS));
        this.#waiting.push(() => (clearTimeout(timer), resolve()));
      });
    }
  }

  /** Lets go of what nobody uses, the longest unused first, until no more than `limit` bytes are taken. */
  #evict(limit) {
    for (const entry of this.#entries.values()) {
      if (this.#taken <= limit) return;
      if (busy(entry)) continue;
      this.#counts.evictions++;
      this.#drop(entry);
    }
  }

  /** Keeps the bound after something was loaded or used. */
  #trim() {
    this.#evict(this.#limit());
    if (this.#home.bytes <= this.#maxBytes && (this.#home.alive || this.#home.bytes === 0)) return;
    // Its memory never shrinks, and a trapped one is lost: whoever comes next begins in a fresh one.
    this.#counts.renewals++;
    for (const entry of [...this.#entries.values()]) {
      if (busy(entry)) entry.stale = true;
      else this.#drop(entry);
    }
    this.#home.leave();
  }

  #take(entry, bytes) {
    this.#taken += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  /** Whoever asks next loads it anew. */
  #drop(entry) {
    if (entry.dropped) return;
    entry.dropped = true;
    if (this.#entries.get(entry.name) === entry) this.#entries.delete(entry.name);
    this.#free(entry);
  }

  #free(entry) {
    if (busy(entry)) return;
    entry.memory?.dispose();
    this.#take(entry, 0);
  }
}

function busy({ users, used }) {
  return users > 0 && Date.now() - used < ABANDONED_MS;
}

function sizeOf(snapshot) {
  return snapshot.byteLength ?? (Number.isSafeInteger(snapshot.size) ? snapshot.size : undefined);
}

function wrong(rule) {
  return new ForewordError('INVALID_CONFIG', rule);
}
