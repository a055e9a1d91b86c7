// The facade over the WebAssembly module: it owns the instance, races the overall deadline, begins anew after a trap, and turns values into
// the forms that the module reads. What is decided, ranked and written is decided, ranked and written in the module.
import { ForewordError, checkKeys, isTyped } from './errors.js';
import { DEADLINE_MS, OPTIONS } from './known.js';
import { unpackEvidence } from './evidence.js';
import { common, current, init } from './instance.js';
import { SLICE_MS, breath, pacer } from './pace.js';
import { received, tableOf } from './source.js';

export { buildSnapshot } from './builder.js';
export { ForewordError } from './errors.js';
export { init } from './instance.js';

/** A memory: a snapshot, what was learned since, and who else can be asked. */
export class Foreword {
  #options;
  #home;
  #instance;
  #engine;
  /** Where the snapshot lies in the instance's memory, which outlives a trap. */
  #span;
  /** What was learned, as calls to be made again of a fresh instance. */
  #learned = [];
  #learnedLength = 0;
  /** The snapshot to begin anew with, where that is not the one that was loaded. */
  #folded;

  /** Loads a snapshot; one that arrives as a stream is copied while it arrives. A pool gives its memories a home of their own. */
  static async load(snapshot, options = {}, home = common) {
    await init(options.module);
    const settings = checked(options);
    await home.ready();
    const instance = home.current();
    const given = await snapshot;
    const pause = pacer(SLICE_MS / 2);
    const bytes = await received(instance, given);
    // Copying a large one and checking it are two turns.
    await pause();
    return new Foreword(instance, bytes, settings, home);
  }

  /** Begins with nothing remembered. */
  static async empty(options = {}, home = common) {
    await init(options.module);
    const settings = checked(options);
    await home.ready();
    return new Foreword(home.current(), undefined, settings, home);
  }

  constructor(instance, bytes, settings, home) {
    this.#options = settings;
    this.#home = home;
    this.#raise(instance, bytes);
  }

  #raise(instance, bytes) {
    const { config, staticTable } = this.#options;
    const table = instance.table(staticTable);
    const engine = instance.run(({ WasmEngine }) => new WasmEngine(bytes, config, table));
    try {
      instance.run(() => this.#equip(engine));
    } catch (error) {
      engine.free();
      throw error;
    }
    this.#engine = engine;
    this.#instance = instance;
    if (bytes) this.#span = engine.span();
  }

  /** Tells an engine whom it may ask. */
  #equip(engine) {
    const { config, providers = [], embedder, semantic, planner, reranker, countTokens, nonce } = this.#options;
    engine.setUnpacker(unpackEvidence);
    const foreign = embedder || config?.semanticTimeoutMs === 0 ? undefined : engine.unread();
    if (foreign) {
      throw new ForewordError('MODEL_MISMATCH', `the snapshot's vectors are by \`${foreign}\`: pass its static table as \`staticTable\` or its \`embedder\`, or set config.semanticTimeoutMs to 0 to do without`);
    }
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
  }

  /** The engine; after a trap, another one over the same snapshot that has learned the same. */
  #live() {
    if (!this.#engine) throw new ForewordError('INVALID_REQUEST', 'this memory is disposed: load it again');
    if (!this.#instance.trapped) return this.#engine;
    const instance = this.#home.current();
    const dead = this.#instance;
    const bytes = this.#folded ?? (this.#span && dead.peek(this.#span));
    this.#raise(instance, bytes && instance.filled(bytes));
    this.#folded = undefined;
    instance.run(() => {
      for (const [method, given] of this.#learned) this.#engine[method](...JSON.parse(given));
    });
    return this.#engine;
  }

  /** Calls something that answers at once. */
  #do(act) {
    const engine = this.#live();
    return this.#instance.run(() => act(engine));
  }

  /** A change, kept for the day when it has to be made again. */
  #learn(method, ...given) {
    let kept;
    try {
      kept = JSON.stringify(given);
    } catch (error) {
      throw new ForewordError('INVALID_RECORD', `what cannot be written as JSON cannot be learned: ${error.message}`, { cause: error });
    }
    const result = this.#do((engine) => engine[method](...given));
    this.#learned.push([method, kept]);
    this.#learnedLength += kept.length;
    return result;
  }

  /** The length of the snapshot that was loaded, and of what is kept of what was learned since, as JSON. */
  get size() {
    return { snapshot: this.#span?.[1] ?? 0, learned: this.#learnedLength };
  }

  /** Calls something that promises an answer. */
  #ask(act) {
    const engine = this.#live();
    const instance = this.#instance;
    return instance.settled(instance.run(() => act(engine)));
  }

  /**
   * Decides whether memory is needed for a prompt, finds it and writes the block. Resolves whatever goes wrong while it runs, with
   * what there is and `degraded`; rejects only with a ForewordError for a caller's mistake.
   */
  async recall(prompt, options) {
    const { request, signal, deadlineMs } = this.#request(prompt, options);
    this.#live();
    const wait = breath();
    if (wait) await wait;
    if (!this.#engine) return nothing('the memory was disposed of before its turn came');
    const until = performance.now() + deadlineMs;
    const ask = (request, ms) => within(this.#ask((engine) => engine.recall(request, signal)), ms + GRACE_MS);
    let fault;
    try {
      return await ask(request, deadlineMs);
    } catch (error) {
      if (isMistake(error)) throw error;
      fault = error;
    }
    // Once more of a fresh instance; should it be the prompt that no instance survives, the catalog is still to be had.
    const again = [
      [request, 'a fresh instance was asked again'],
      [{ ...request, prompt: '' }, 'nothing is injected but the catalog'],
    ];
    for (const [request, instead] of again) {
      const left = until - performance.now();
      if (!this.#engine || fault.code !== 'MODULE_TRAPPED' || left <= 0) break;
      try {
        const result = await ask({ ...request, deadlineMs: left }, left);
        return { ...result, degraded: [...result.degraded, { part: 'module', message: `${fault.message}; ${instead}` }] };
      } catch (error) {
        fault = error;
      }
    }
    return nothing(`the recall failed (${fault?.message ?? fault}); nothing is injected`);
  }

  /** What matches a query, best first, whether or not a recall would inject it. */
  search(query, options) {
    return this.#twice(query, options, (engine, request, signal) => engine.search(request, signal));
  }

  /**
   * A recall ahead of time, while the user still types in turn `turn`. A recall of a later turn with the same prompt is served with it
   * as long as nothing has changed.
   */
  prepare(turn, prompt, options) {
    return this.#twice(prompt, options, (engine, request, signal) => engine.prepare(turn, { mode: 'speculative', ...request }, signal));
  }

  /** Asks again, of a fresh instance, what somebody else's trap has ended; one's own is an error. */
  async #twice(prompt, options, act) {
    const { request, signal } = this.#request(prompt, options);
    this.#live();
    const wait = breath();
    if (wait) await wait;
    const ask = () => this.#ask((engine) => act(engine, request, signal));
    try {
      return await ask();
    } catch (error) {
      if (error?.code !== 'MODULE_TRAPPED' || !this.#engine) throw error;
      return ask();
    }
  }

  /** Records in order of time, a page at a time. */
  browse({ now, asOf, ...rest } = {}) {
    return this.#do((engine) => engine.browse(present({ ...rest, now: time(now), asOf: time(asOf) })));
  }

  /** What the visible records are mostly about, the largest theme first; what was learned since the snapshot belongs to one after `compact`. */
  themes({ now, ...rest } = {}) {
    return this.#do((engine) => engine.themes(present({ ...rest, now: time(now) })));
  }

  /** Hands the active records to the semantic backend; resolves with what went wrong, if anything did. */
  async reconcile() {
    return this.#ask((engine) => engine.reconcile());
  }

  #request(prompt, { signal, now, asOf, ...rest } = {}) {
    if (typeof prompt !== 'string') throw new ForewordError('INVALID_REQUEST', `a prompt is a string, not ${typeof prompt}`);
    if (!Object.keys(rest).every((key) => OPTIONS.has(key))) checkKeys(rest, defaults().request, 'options', 'INVALID_REQUEST');
    const request = present({ ...rest, prompt, now: time(now), asOf: time(asOf) });
    return { request, signal, deadlineMs: rest.deadlineMs ?? this.#options.config?.deadlineMs ?? DEADLINE_MS };
  }

  /** Learns a record or several; they are found from now on. Gives the ids of those that read like an instruction to a model: they are kept. */
  remember(records) {
    return this.#learn('remember', Array.isArray(records) ? records : [records]);
  }

  /** Forgets a record for good; false if there is none of that id. */
  forget(id) {
    return this.#learn('forget', id);
  }

  /** Learns a record in place of another. */
  supersede(oldId, record) {
    return this.#learn('supersede', oldId, record);
  }

  /** Hides at once what the snapshot says about a subject and predicate. */
  suppress(subject, predicate) {
    this.#learn('suppress', subject, predicate);
  }

  /** Adds a topic to the catalog, or replaces the one of its id. */
  addTopic(topic) {
    this.#learn('addTopic', topic);
  }

  /** Snapshot and overlay as the bytes of a new snapshot, to be kept. */
  compact() {
    const bytes = this.#do((engine) => engine.compact());
    // What was learned is in it: where the calls have become longer than all that is known, they are not kept any more.
    if (this.#learnedLength > bytes.length) {
      this.#folded = bytes.slice();
      this.#learned = [];
      this.#learnedLength = 0;
    }
    return bytes;
  }

  /** What is loaded: counts, model, revisions, catalog. */
  info() {
    return this.#do((engine) => engine.info());
  }

  /** Gives the memory back. Recalls that are on their way still end. */
  dispose() {
    this.#engine?.free();
    this.#engine = undefined;
    this.#learned = [];
    this.#folded = undefined;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

/** The settings as they are now: after a trap, another instance gets the same. */
function checked(options) {
  if (options.config !== undefined) checkKeys(options.config, defaults().config, 'config', 'INVALID_CONFIG');
  return { ...options, config: options.config && JSON.parse(JSON.stringify(options.config)), staticTable: tableOf(options.staticTable) };
}

/** What the module may take beyond its own deadline, in milliseconds, before the facade answers for it. */
const GRACE_MS = 250;

/** A trap is nobody's mistake. */
function isMistake(error) {
  return isTyped(error) && error.code !== 'MODULE_TRAPPED';
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
    block: { text: '', catalog: '', recall: '', included: [], omitted: 0, fingerprint: '', neutralized: 0, catalogTokens: 0, recallTokens: 0 },
    providers: [],
    degraded: [{ part: 'module', message }],
    revision: '',
    overlayRevision: 0,
  };
}

let known;

/** Every setting at its default: `{ config, request, index }`. Needs `init` to be done. */
export function defaults() {
  known ??= current().run((api) => api.defaults());
  return known;
}

/** The fields that are set: the module takes what is absent as its default. */
function present(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

function time(value) {
  return value instanceof Date ? value.getTime() : value;
}

/** Whether every `[id]` that an answer cites was retrieved in `result`. */
export function checkCitations(answer, result) {
  return current().run((api) => api.checkCitations(answer, result.block.included));
}
