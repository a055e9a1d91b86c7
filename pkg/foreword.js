// The facade over the WebAssembly module: it owns the instance, races the overall deadline, begins anew after a trap, and turns values into
// the forms that the module reads. What is decided, ranked and written is decided, ranked and written in the module.
import { answering, ids, nothing, plan, results, vectors } from './answers.js';
import { ForewordError, checkKeys, checkText, isTyped, messageOf, reading } from './errors.js';
import { DEADLINE_MS, OPTIONS } from './known.js';
import { unpackResult } from './result.js';
import { common, current, init } from './instance.js';
import { SLICE_MS, breath, inTime, pacer } from './pace.js';
import { still } from './plain.js';
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
  static async load(snapshot, options, home = common) {
    const settings = await checked(options);
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
  static async empty(options, home = common) {
    const settings = await checked(options);
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
    const { config, providers, embedder, semantic, planner, reranker, countTokens, nonce } = this.#options;
    engine.setUnpacker(unpackResult);
    const foreign = embedder || config?.semanticTimeoutMs === 0 ? undefined : engine.unread();
    if (foreign) {
      throw new ForewordError('MODEL_MISMATCH', `the snapshot's vectors are by \`${foreign}\`: pass its static table as \`staticTable\` or its \`embedder\`, or set config.semanticTimeoutMs to 0 to do without`);
    }
    for (const { search, spec } of providers) engine.addProvider(spec, search);
    if (embedder) engine.setEmbedder(embedder.id, embedder.dimensions, embedder.embed);
    if (semantic) engine.setSemantic(semantic.search, semantic.reconcile);
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
      throw new ForewordError('INVALID_RECORD', `what cannot be written as JSON cannot be learned: ${messageOf(error)}`, { cause: error });
    }
    // What is learned is what would be learned again: getters, Maps and gaps in arrays come out of JSON otherwise.
    const result = this.#do((engine) => engine[method](...JSON.parse(kept)));
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
    if (!this.#engine) return withoutMemory('the memory was disposed of before its turn came');
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
    return withoutMemory(`the recall failed (${fault?.message ?? fault}); nothing is injected`);
  }

  /** What matches a query, best first, whether or not a recall would inject it. */
  search(query, options) {
    return this.#twice(query, options, (engine, request, signal) => engine.search(request, signal));
  }

  /**
   * A recall ahead of time, while the user still types in turn `turn`. A recall of a later turn with the same prompt is served with it
   * as long as nothing has changed.
   */
  async prepare(turn, prompt, options) {
    if (!Number.isInteger(turn) || turn < 0) throw new ForewordError('INVALID_REQUEST', `a turn is a whole number from 0 on, not ${typeof turn === 'number' ? turn : typeof turn}`);
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
  browse(options) {
    return reading(() => {
      const { now, asOf, ...rest } = options ?? {};
      return this.#do((engine) => engine.browse(present({ ...rest, now: time(now), asOf: time(asOf) })));
    });
  }

  /** What the visible records are mostly about, the largest theme first; what was learned since the snapshot belongs to one after `compact`. */
  themes(options) {
    return reading(() => {
      const { now, ...rest } = options ?? {};
      return this.#do((engine) => engine.themes(present({ ...rest, now: time(now) })));
    });
  }

  /** Hands the active records to the semantic backend; resolves with what went wrong, if anything did. */
  async reconcile() {
    return this.#ask((engine) => engine.reconcile());
  }

  #request(prompt, options) {
    checkText(prompt, 'a prompt');
    return reading(() => {
      const given = options ?? {};
      const request = { prompt };
      let known = true;
      // Field by field, each read once: copies of the whole cost a fifth of a short search.
      for (const key of Object.keys(given)) {
        if (key === 'signal' || key === 'prompt') continue;
        const dated = key === 'now' || key === 'asOf';
        known &&= dated || OPTIONS.has(key);
        const value = given[key];
        if (value !== undefined && value !== null) request[key] = dated ? time(value) : value;
      }
      if (!known) {
        const { signal: _signal, now: _now, asOf: _asOf, ...rest } = given;
        checkKeys(rest, defaults().request, 'options', 'INVALID_REQUEST');
      }
      const deadlineMs = request.deadlineMs ?? this.#options.config?.deadlineMs ?? DEADLINE_MS;
      if (typeof deadlineMs !== 'number') throw new ForewordError('INVALID_REQUEST', `deadlineMs is a number of milliseconds, not ${typeof deadlineMs}`);
      return { request, signal: listenable(given.signal), deadlineMs };
    });
  }

  /** Learns a record or several; they are found from now on. Gives the ids of those that read like an instruction to a model: they are kept. */
  remember(records) {
    return this.#learn('remember', reading(() => (Array.isArray(records) ? records : [records]), 'INVALID_RECORD'));
  }

  /** Forgets a record for good; false if there is none of that id. */
  forget(id) {
    checkText(id, 'an id');
    return this.#learn('forget', id);
  }

  /** Learns a record in place of another. */
  supersede(oldId, record) {
    checkText(oldId, 'an id');
    return this.#learn('supersede', oldId, record);
  }

  /** Hides at once what the snapshot says about a subject and predicate. */
  suppress(subject, predicate) {
    checkText(subject, 'a subject');
    checkText(predicate, 'a predicate');
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
    const engine = this.#engine;
    this.#engine = undefined;
    // A function of the host's that the engine is calling at this moment cannot take it away from under it.
    if (engine && this.#instance.busy) queueMicrotask(() => engine.free());
    else engine?.free();
    this.#learned = [];
    this.#folded = undefined;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.dispose();
  }
}

/** The settings as they are now: after a trap, another instance gets the same. Starts the module. */
async function checked(options) {
  const given = reading(() => ({ ...options }), 'INVALID_CONFIG');
  await init(given.module);
  const staticTable = tableOf(given.staticTable);
  return reading(() => {
    const { config, providers, embedder, semantic, nonce } = given;
    if (embedder && typeof embedder.dimensions !== 'number') throw new ForewordError('INVALID_CONFIG', 'an embedder has `dimensions`, the length of its vectors');
    if (config !== undefined) checkKeys(config, defaults().config, 'config', 'INVALID_CONFIG');
    if (nonce !== undefined) checkText(nonce, 'a nonce', 'INVALID_CONFIG');
    return {
      ...given,
      staticTable,
      config: config && JSON.parse(JSON.stringify(config)),
      providers: [...(providers ?? [])].map((provider) => {
        const { search, ...spec } = provider ?? {};
        if (Array.isArray(spec.topics)) spec.topics.forEach((topic) => checkText(topic, 'a topic', 'INVALID_CONFIG'));
        return { spec: present(spec), search: answering(method(provider, search, 'search', `provider \`${String(spec.id)}\``), results) };
      }),
      embedder: embedder && {
        id: checkText(embedder.id, 'the id of an embedder', 'INVALID_CONFIG'),
        dimensions: embedder.dimensions,
        embed: answering(method(embedder, embedder.embed, 'embed', 'the embedder'), vectors),
      },
      semantic: semantic && {
        search: answering(method(semantic, semantic.search, 'search', 'the semantic backend'), ids),
        reconcile: semantic.reconcile && answering(method(semantic, semantic.reconcile, 'reconcile', 'the semantic backend'), nothing),
      },
      planner: given.planner && answering(callable(given.planner, 'planner'), plan),
      reranker: given.reranker && answering(callable(given.reranker, 'reranker'), ids),
      countTokens: counting(callable(given.countTokens, 'countTokens')),
    };
  }, 'INVALID_CONFIG');
}

function callable(given, name) {
  if (given && typeof given !== 'function') throw new ForewordError('INVALID_CONFIG', `${name} is a function, not ${typeof given}`);
  return given;
}

/** A counter that promises a number gives none: nothing waits for it, and its promise fails unheard. */
function counting(count) {
  return (
    count &&
    ((text) => {
      const counted = count(text);
      if (typeof counted !== 'number') Promise.resolve(counted).catch(() => {});
      return counted;
    })
  );
}

function method(owner, given, name, what) {
  if (typeof given !== 'function') throw new ForewordError('INVALID_CONFIG', `${what} has no function \`${name}\``);
  return given.bind(owner);
}

/** What the module may take beyond its own deadline, in milliseconds, before the facade answers for it. */
const GRACE_MS = 250;

/** A trap is nobody's mistake. */
function isMistake(error) {
  return isTyped(error) && error.code !== 'MODULE_TRAPPED';
}

/** Rejects when a promise stays pending: a module that trapped never settles it. */
function within(promise, ms) {
  return inTime(promise, ms, () => new Error(`no answer within ${ms} ms`));
}

function withoutMemory(message) {
  return {
    plan: { shouldRetrieve: false, confidence: 0, topics: [], requests: [], reason: message, stage: 0, signals: {} },
    evidence: [],
    block: { text: '', catalog: '', recall: '', included: [], omitted: 0, shortened: 0, catalogOmitted: 0, fingerprint: '', neutralized: 0, catalogTokens: 0, recallTokens: 0 },
    providers: [],
    degraded: [{ part: 'module', message }],
    revision: '',
    overlayRevision: 0,
    prepared: null,
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
  const set = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value !== undefined && value !== null) set[key] = still(value);
  }
  return set;
}

/** A signal that can be listened to. */
function listenable(signal) {
  if (signal === undefined || signal === null) return undefined;
  const { aborted, addEventListener, removeEventListener } = signal;
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function' && typeof removeEventListener === 'function') return signal;
  throw new ForewordError('INVALID_REQUEST', 'signal is an AbortSignal');
}

function time(value) {
  return value instanceof Date ? value.getTime() : value;
}

/** Whether every `[id]` that an answer cites was retrieved in `result`. */
export function checkCitations(answer, result) {
  checkText(answer, 'an answer');
  return reading(() => {
    const { included } = result.block;
    if (!Array.isArray(included)) throw new ForewordError('INVALID_REQUEST', 'the result of a recall has block.included, a list of ids');
    included.forEach((id) => checkText(id, 'an id'));
    return current().run((api) => api.checkCitations(answer, included));
  });
}
