// Instances of the module. One serves every memory that has no home of its own, until it traps; a builder gets one of its own, whose memory is given back with it.
import { ForewordError, isTyped } from './errors.js';
import { viewOf } from './source.js';
import { glue } from './wasm/foreword.js';

let source = () => {
  throw new ForewordError('NOT_INITIALIZED', 'call init(module) first: this entry does not know where the module is');
};
/** Kept for further instances. */
let compiled;
let pending;

/** Says where the module comes from when nobody passes one to `init`. Used by the entries. */
export function setModuleSource(newSource) {
  source = newSource;
}

/**
 * Starts the module. Called by everything that needs it; calling it again does nothing, and after a failure it tries anew.
 * Takes a WebAssembly.Module, its bytes, a Response, or a promise of one of them.
 */
export function init(module) {
  if (common.alive) return Promise.resolve();
  pending ??= start(module).finally(() => {
    pending = undefined;
  });
  return pending;
}

async function start(given) {
  try {
    compiled ??= await compile(await (given ?? source()));
    await common.ready();
  } catch (error) {
    if (isTyped(error)) throw error;
    throw new ForewordError('MODULE_LOAD', `the module could not be started: ${error?.message ?? error}`, { cause: error });
  }
}

async function compile(module) {
  if (module instanceof WebAssembly.Module) return module;
  // A response is told by what it has: in Node, the mere name `Response` loads a whole HTTP client.
  if (typeof module?.arrayBuffer !== 'function') return WebAssembly.compile(module);
  if (!module.ok) throw new ForewordError('MODULE_LOAD', `the module could not be fetched: HTTP ${module.status} for ${module.url}`);
  return WebAssembly.compile(await module.arrayBuffer());
}

/** The instance that memories share which have no home of their own. */
export function current() {
  return common.current();
}

/** An instance for one piece of work. Needs `init` to be done. */
export function another() {
  return Instance.start(compiled);
}

/** An instance that memories share, and a fresh one after it has trapped. */
export class Home {
  #instance;

  get alive() {
    return this.#instance !== undefined && !this.#instance.trapped;
  }

  /** What the instance's memory takes, in bytes; it never shrinks. */
  get bytes() {
    return this.#instance?.bytes ?? 0;
  }

  /** Starts the instance beforehand, off the thread where the host can. Needs `init` to be done. */
  async ready() {
    if (this.alive) return;
    const instance = await Instance.start(compiled);
    // Of several that were started at once, one is kept.
    if (!this.alive) this.#instance = instance;
  }

  current() {
    if (!compiled) throw new ForewordError('NOT_INITIALIZED', 'await init() first, or load a memory: both start the module');
    if (!this.alive) this.#instance = Instance.startSync(compiled);
    return this.#instance;
  }

  /** The next who comes gets a fresh instance; those who are there keep theirs, which goes when they do. */
  leave() {
    this.#instance = undefined;
  }
}

export const common = new Home();

/** What a dead instance answers with: to the glue no error, no value, and 0. */
const NOTHING = Object.freeze([]);

/**
 * One instance, and whether it can still be used.
 *
 * An exception that leaves an export has torn the module's frames off half-way: a trap, a stack that ran over, a host that threw where
 * nobody expected it. From then on the instance does nothing any more, whoever calls: timers and promises that it had given out settle into the void.
 */
export class Instance {
  #exports;
  #depth = 0;
  /** How those who await something are told of its end. */
  #waiting = new Set();
  #tables = new WeakMap();
  /** The classes and functions of the module. */
  api;
  /** What the instance died of. */
  trapped;

  static async start(module) {
    const api = glue();
    return new Instance(api, await WebAssembly.instantiate(module, api.imports), module);
  }

  static startSync(module) {
    const api = glue();
    return new Instance(api, new WebAssembly.Instance(module, api.imports), module);
  }

  constructor(api, instance, module) {
    this.api = api;
    this.#exports = instance.exports;
    const guarded = {};
    for (const [name, value] of Object.entries(instance.exports)) {
      guarded[name] = typeof value === 'function' ? this.#guard(value, name.includes('closure')) : value;
    }
    api.begin({ exports: guarded }, module);
  }

  /** @param fromLoop whether the host's event loop calls it, where an exception has nobody to catch it. */
  #guard(exported, fromLoop) {
    return (...args) => {
      if (this.trapped) return NOTHING;
      this.#depth++;
      try {
        return exported(...args);
      } catch (error) {
        this.#trap(error);
        if (fromLoop && this.#depth === 1) return NOTHING;
        throw error;
      } finally {
        this.#depth--;
      }
    };
  }

  #trap(error) {
    if (this.trapped) return;
    this.trapped = error ?? new Error('unknown');
    for (const reject of this.#waiting) reject(this.fault());
    this.#waiting.clear();
  }

  /** Whether something of it is running, which then has called whoever asks. */
  get busy() {
    return this.#depth > 0;
  }

  /** Runs something that calls the module at once. @throws ForewordError MODULE_TRAPPED */
  run(act) {
    let result;
    try {
      result = act(this.api);
    } catch (error) {
      if (!this.trapped) throw error;
    }
    if (this.trapped) throw this.fault();
    return result;
  }

  /** Awaits something that the module promised; a module that has trapped never settles it. @throws ForewordError MODULE_TRAPPED */
  settled(promise) {
    return new Promise((resolve, reject) => {
      if (this.trapped) return reject(this.fault());
      this.#waiting.add(reject);
      const end = (settle) => (value) => {
        this.#waiting.delete(reject);
        settle(value);
      };
      promise.then(end(resolve), end(reject));
    });
  }

  fault() {
    const why = this.trapped?.message ?? String(this.trapped);
    return new ForewordError('MODULE_TRAPPED', `the module trapped (${why}); what was loaded and learned before is kept`, { cause: this.trapped });
  }

  /** What its memory takes. */
  get bytes() {
    return this.#exports.memory.buffer.byteLength;
  }

  /** What lies in its memory, for as long as it does not grow: also that of a dead one. Not to be handed out. */
  peek([address, length]) {
    return new Uint8Array(this.#exports.memory.buffer, address, length);
  }

  /** A handle on the static table of these bytes, read once for all who use the same array. */
  table(bytes) {
    if (!bytes) return undefined;
    let table = this.#tables.get(bytes);
    if (!table) {
      table = this.run((api) => new api.WasmTable(this.filled(bytes)));
      this.#tables.set(bytes, table);
    }
    return this.run(() => table.share());
  }

  /** Bytes, copied into the module, if they are still there. */
  filled(bytes) {
    viewOf(bytes);
    return this.run((api) => {
      const into = new api.WasmBytes(bytes.length);
      into.push(bytes);
      return into;
    });
  }
}
