// The facade over the WebAssembly module: it owns the instance, races the overall deadline, and turns values into the forms
// that the module reads. What is decided, ranked and written is decided, ranked and written in the module.
import { initSync, WasmBuilder, WasmEngine, WasmNotes, checkCitations as checkCitationsInModule, defaults as defaultsInModule } from './wasm/foreword.js';

let source = () => {
  throw new ForewordError('NOT_INITIALIZED', 'call init(module) first: this entry does not know where the module is');
};
let ready = false;
let pending;

/** An error with a stable `code` and a message that says what to do. */
export class ForewordError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = 'ForewordError';
    this.code = code;
  }
}

/** Says where the module comes from when nobody passes one to `init`. Used by the entries. */
export function setModuleSource(newSource) {
  source = newSource;
}

/**
 * Starts the module. Called by everything that needs it; calling it again does nothing, and after a failure it tries anew.
 * Takes a WebAssembly.Module, its bytes, a Response, or a promise of one of them.
 */
export function init(module) {
  if (ready) return Promise.resolve();
  pending ??= start(module).finally(() => {
    pending = undefined;
  });
  return pending;
}

async function start(given) {
  const module = await compile(await (given ?? source()));
  if (!ready) initSync({ module });
  ready = true;
}

async function compile(module) {
  if (module instanceof WebAssembly.Module) return module;
  // Before anything else is asked: in Node, the mere name `Response` loads a whole HTTP client.
  if (ArrayBuffer.isView(module) || module instanceof ArrayBuffer) return WebAssembly.compile(module);
  if (typeof Response !== 'undefined' && module instanceof Response) {
    if (!module.ok) throw new ForewordError('MODULE_LOAD', `the module could not be fetched: HTTP ${module.status} for ${module.url}`);
    return WebAssembly.compile(await module.arrayBuffer());
  }
  return WebAssembly.compile(module);
}

async function bytesOf(snapshot) {
  if (snapshot instanceof Uint8Array) return snapshot;
  if (snapshot instanceof ArrayBuffer) return new Uint8Array(snapshot);
  if (ArrayBuffer.isView(snapshot)) return new Uint8Array(snapshot.buffer, snapshot.byteOffset, snapshot.byteLength);
  if (typeof snapshot?.arrayBuffer === 'function') return new Uint8Array(await snapshot.arrayBuffer());
  if (typeof snapshot?.getReader === 'function') return new Uint8Array(await new Response(snapshot).arrayBuffer());
  throw new ForewordError('INVALID_REQUEST', 'a snapshot is a Uint8Array, ArrayBuffer, Blob, Response or ReadableStream');
}

/** A memory: a snapshot, what was learned since, and who else can be asked. */
export class Foreword {
  #engine;
  #deadlineMs;

  constructor(engine, deadlineMs) {
    this.#engine = engine;
    this.#deadlineMs = deadlineMs;
  }

  /** Loads a snapshot. */
  static async load(snapshot, options = {}) {
    await init(options.module);
    return Foreword.#over(await bytesOf(await snapshot), options);
  }

  /** Begins with nothing remembered. */
  static async empty(options = {}) {
    await init(options.module);
    return Foreword.#over(undefined, options);
  }

  static #over(bytes, { config, providers = [], embedder, semantic, planner, reranker, countTokens, nonce }) {
    checkKeys(config, defaults().config, 'config', 'INVALID_CONFIG');
    const engine = new WasmEngine(bytes, config);
    for (const { search, ...spec } of providers) {
      if (typeof search !== 'function') throw new ForewordError('INVALID_CONFIG', `provider \`${spec.id}\` has no function \`search\``);
      engine.addProvider(spec, search.bind(spec));
    }
    if (embedder) engine.setEmbedder(embedder.id, embedder.dimensions, embedder.embed.bind(embedder));
    if (semantic) engine.setSemantic(semantic.search.bind(semantic), semantic.reconcile?.bind(semantic));
    if (planner) engine.setPlanner(planner);
    if (reranker) engine.setReranker(reranker);
    if (countTokens) engine.setTokenCounter(countTokens);
    if (nonce) engine.setNonce(nonce);
    return new Foreword(engine, config?.deadlineMs ?? 5000);
  }

  /**
   * Decides whether memory is needed for a prompt, finds it and writes the block. Resolves whatever goes wrong while it runs, with
   * what there is and `degraded`; rejects only with a ForewordError for a caller's mistake.
   */
  async recall(prompt, options) {
    const { request, signal, deadlineMs } = this.#request(prompt, options);
    const engine = this.#live();
    try {
      return await within(engine.recall(request, signal), deadlineMs + GRACE_MS);
    } catch (error) {
      if (isCallersMistake(error)) throw error;
      return nothing(`the recall failed (${error?.message ?? error}); nothing is injected`);
    }
  }

  /** What matches a query, best first, whether or not a recall would inject it. */
  async search(query, options) {
    const { request, signal } = this.#request(query, options);
    return this.#live().search(request, signal);
  }

  /**
   * A recall ahead of time, while the user still types in turn `turn`. A recall of a later turn with the same prompt is served with it
   * as long as nothing has changed.
   */
  async prepare(turn, prompt, options) {
    const { request, signal } = this.#request(prompt, options);
    return this.#live().prepare(turn, { mode: 'speculative', ...request }, signal);
  }

  /** Records in order of time, a page at a time. */
  browse({ now, asOf, ...rest } = {}) {
    return this.#live().browse(present({ ...rest, now: time(now), asOf: time(asOf) }));
  }

  /** Hands the active records to the semantic backend; resolves with what went wrong, if anything did. */
  reconcile() {
    return this.#live().reconcile();
  }

  #request(prompt, { signal, now, asOf, ...rest } = {}) {
    if (typeof prompt !== 'string') throw new ForewordError('INVALID_REQUEST', `a prompt is a string, not ${typeof prompt}`);
    checkKeys(rest, defaults().request, 'options', 'INVALID_REQUEST');
    const request = present({ ...rest, prompt, now: time(now), asOf: time(asOf) });
    return { request, signal, deadlineMs: rest.deadlineMs ?? this.#deadlineMs };
  }

  /** Learns a record or several; they are found from now on. */
  remember(records) {
    this.#live().remember(Array.isArray(records) ? records : [records]);
  }

  /** Forgets a record for good; false if there is none of that id. */
  forget(id) {
    return this.#live().forget(id);
  }

  /** Learns a record in place of another. */
  supersede(oldId, record) {
    this.#live().supersede(oldId, record);
  }

  /** Hides at once what the snapshot says about a subject and predicate. */
  suppress(subject, predicate) {
    this.#live().suppress(subject, predicate);
  }

  /** Adds a topic to the catalog, or replaces the one of its id. */
  addTopic(topic) {
    this.#live().addTopic(topic);
  }

  /** Snapshot and overlay as the bytes of a new snapshot, to be kept. */
  compact() {
    return this.#live().compact();
  }

  /** What is loaded: counts, model, revisions, catalog. */
  info() {
    return this.#live().info();
  }

  /** Gives the memory back. Recalls that are on their way still end. */
  dispose() {
    this.#engine?.free();
    this.#engine = undefined;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }

  #live() {
    if (!this.#engine) throw new ForewordError('INVALID_REQUEST', 'this memory is disposed: load it again');
    return this.#engine;
  }
}

/** What the module may take beyond its own deadline, in milliseconds, before the facade answers for it. */
const GRACE_MS = 250;

function isCallersMistake(error) {
  return error instanceof ForewordError || (error?.name === 'ForewordError' && typeof error.code === 'string');
}

/** Rejects when a promise stays pending: a module that trapped never settles it. */
function within(promise, ms) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, Math.min(ms, 2147483647), new Error(`no answer within ${ms} ms`));
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function nothing(message) {
  return {
    plan: { shouldRetrieve: false, confidence: 0, topics: [], requests: [], reason: message, stage: 0, signals: {} },
    evidence: [],
    block: { text: '', catalog: '', recall: '', included: [], omitted: 0, fingerprint: '', tokens: 0 },
    providers: [],
    degraded: [{ part: 'module', message }],
  };
}

let known;

/** Every setting at its default: `{ config, request, index }`. Needs `init` to be done. */
export function defaults() {
  known ??= defaultsInModule();
  return known;
}

/** A setting that does not exist is a mistake that would otherwise go unnoticed. */
function checkKeys(given, template, path, code) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return;
  for (const [key, value] of Object.entries(given)) {
    if (!(key in template)) {
      throw new ForewordError(code, `${path}.${key} does not exist; there are ${Object.keys(template).join(', ')}`);
    }
    const inner = template[key];
    // A scope names what it likes.
    if (inner && typeof inner === 'object' && !Array.isArray(inner) && key !== 'scope') checkKeys(value, inner, `${path}.${key}`, code);
  }
}

/** The fields that are set: the module takes what is absent as its default. */
function present(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

function time(value) {
  return value instanceof Date ? value.getTime() : value;
}

/**
 * Builds a snapshot, a few milliseconds at a time, so that a page stays responsive.
 * `notes` are `{ path, text }` Markdown files; what is wrong with one is in `reports` and costs only itself.
 */
export async function buildSnapshot({ records = [], topics = [], entities = [], notes = [], index, onProgress, module, sliceMs = 8 } = {}) {
  await init(module);
  checkKeys(index, defaults().index, 'index', 'INVALID_CONFIG');
  const builder = new WasmBuilder(index);
  const reader = new WasmNotes();
  const reports = [];
  const pause = pacer(sliceMs);
  try {
    for await (const { path, text } of notes) {
      reader.add(path, text);
      await pause();
    }
    const read = reader.finish();
    reports.push(...read.reports);
    for await (const topic of both(read.topics, topics)) builder.addTopic(topic);
    for await (const entity of both(read.entities, entities)) builder.addEntity(entity);
    for await (const record of both(read.records, records)) {
      try {
        builder.add(record);
      } catch (error) {
        if (!isCallersMistake(error)) throw error;
        reports.push({ file: record?.id ?? '', line: undefined, skipped: true, message: error.message });
      }
      await pause();
    }
    while (!builder.step(STEP_RECORDS)) {
      onProgress?.(builder.progress());
      await pause();
    }
    onProgress?.(1);
    return { bytes: builder.finish(), reports };
  } finally {
    reader.free();
    builder.free();
  }
}

/** Records worked through between looks at the clock. */
const STEP_RECORDS = 16;

async function* both(first, second) {
  yield* first;
  yield* second;
}

/** A function that gives the event loop a turn once `sliceMs` have gone by since the last one. */
function pacer(sliceMs) {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < sliceMs) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    since = performance.now();
  };
}

/** Whether every `[id]` that an answer cites was retrieved in `result`. */
export function checkCitations(answer, result) {
  return checkCitationsInModule(answer, result.block.included);
}
