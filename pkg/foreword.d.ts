/// <reference lib="esnext.disposable" />
/** Milliseconds since 1970, an ISO 8601 text, or a Date. */
export type Time = number | string | Date;

/** Named dimensions, such as `{ tenant: 'acme', user: 'ana' }`. A record is visible only if every dimension it names equals the request's; without a scope only global records are. */
export type Scope = Record<string, string>;

/** One memory. `id` and one of `statement` and `title` are needed; snake_case names are accepted too. */
export interface MemoryRecord {
  /** Unique in its store, 1 to 256 bytes. */
  id: string;
  /** `fact`, `decision`, `preference`, `task`, `event`, `procedure`, `note`, `turn` … */
  kind?: string;
  /** Id or title of its topic. */
  topic?: string;
  /** Whom or what it is about. */
  subject?: string;
  /** Which property of the subject it states. */
  predicate?: string;
  /** The memory itself. */
  statement?: string;
  title?: string;
  /** Phrases and questions that should bring it back. */
  cues?: string[];
  tags?: string[];
  entities?: string[];
  status?: 'active' | 'archived' | 'deleted';
  /** Ids of the records that this one replaces. */
  supersedes?: string[];
  supersededBy?: string;
  /** Work that is not finished. */
  unresolved?: boolean;
  /** 0 to 1. */
  confidence?: number;
  /** 0 to 1. */
  importance?: number;
  created?: number | string;
  updated?: number | string;
  validFrom?: number | string;
  /** Exclusive. */
  validUntil?: number | string;
  /** Exclusive; from then on it is not retrieved. */
  expires?: number | string;
  scope?: Scope;
  source?: { provider?: string; uri?: string; session?: string; /** From 0. */ position?: number; speaker?: string };
}

/** A catalog entry. */
export interface Topic {
  id?: string;
  title: string;
  aliases?: string[];
  tags?: string[];
  summary?: string;
  unresolved?: boolean;
  scope?: Scope;
  /** Ids of the providers that hold it; none means the built-in store. */
  providers?: string[];
}

/** A person or thing, with the names that the user has for it. */
export interface KnownEntity {
  name: string;
  aliases?: string[];
  scope?: Scope;
}

/** What a provider is asked. */
export interface ProviderRequest {
  providerId: string;
  query: string;
  reason: string;
  limit: number;
  scope: Scope;
}

/** What a provider answers with. `id` and a text are needed. */
export interface ProviderResult {
  id: string | number;
  /** `statement`, `content` and `body` are read too. */
  text?: string;
  title?: string;
  /** Only the order is used. */
  score?: number;
  kind?: string;
  topic?: string;
  subject?: string;
  predicate?: string;
  uri?: string;
  session?: string;
  speaker?: string;
  updated?: Time;
  expires?: Time;
  superseded?: boolean;
  unresolved?: boolean;
  importance?: number;
  /** A result private to another scope is rejected. */
  scope?: Scope;
}

export interface Provider {
  /** Unique; not `memory`, which is the built-in store. */
  id: string;
  /** What it holds, in a sentence; local semantics may route by it. */
  description?: string;
  /** Who may ask it. */
  scope?: Scope;
  /** Ids or titles of topics that it holds besides those that the catalog says it does; `'*'` for all. */
  topics?: '*' | string | string[];
  /** Default 1,500. Its `signal` fires then; the recall goes on without it. */
  timeoutMs?: number;
  limit?: number;
  search(request: ProviderRequest, options: { signal: AbortSignal }): ProviderResult[] | Promise<ProviderResult[]>;
}

export interface Embedder {
  /** Stable: vectors of different ids are never compared. */
  id: string;
  dimensions: number;
  /** One vector a text, of `dimensions` finite numbers. */
  embed(texts: string[], options: { signal: AbortSignal }): ArrayLike<number>[] | Promise<ArrayLike<number>[]>;
}

export interface SemanticBackend {
  /** Ids of records, best first. */
  search(query: string, limit: number, options: { signal: AbortSignal; scope: Scope }): string[] | Promise<string[]>;
  /** Takes over the whole state: every record that may be retrieved, with the scope it is private to. Revisions older than the known one are to be ignored, 0 has no order. */
  reconcile?(activeSet: { id: string; title: string; text: string; cues: string[]; scope: Scope }[], revision: number, options: { signal: AbortSignal }): unknown;
}

export type Planner = (
  input: { prompt: string; topics: string[]; providers: string[] },
  options: { signal: AbortSignal },
) => Partial<Plan> | Promise<Partial<Plan>>;

export type Reranker = (
  query: string,
  candidates: { id: string; providerId: string; title: string; text: string }[],
  options: { signal: AbortSignal },
) => string[] | Promise<string[]>;

/** Any part of the settings; `defaults().config` shows all of them. */
export interface Config {
  plan?: Record<string, unknown>;
  search?: Record<string, unknown>;
  rank?: Record<string, unknown>;
  /** UTF-8 bytes, unless a counter is injected. Defaults: catalog 400, recall 2048, per provider 2048. */
  budgets?: { catalogTokens?: number; recallTokens?: number; perProviderTokens?: number };
  /** Marks every stored word in the block. Default false. */
  datamark?: boolean;
  /** 0 to 1. Default 0.5. */
  perSourceShare?: number;
  /** Default 8. */
  evidenceLimit?: number;
  /** Default 1,500. */
  providerTimeoutMs?: number;
  /** Default 150; 0 switches the semantic side off. */
  semanticTimeoutMs?: number;
  /** Default 5,000. */
  deadlineMs?: number;
  [setting: string]: unknown;
}

export interface Options {
  config?: Config;
  providers?: Provider[];
  embedder?: Embedder;
  semantic?: SemanticBackend;
  /** Asked only where the decision is ambiguous, and only if `config.plan.planner` says what it may be sent. */
  planner?: Planner;
  reranker?: Reranker;
  /** An exact token counter; must answer at once. Where it throws or gives no number, bytes are counted, and `degraded` says so. */
  countTokens?: (text: string) => number;
  /** Of the block's delimiters: 8 to 32 letters and digits. Drawn at random if not given. */
  nonce?: string;
  /**
   * The bytes of a static token table, such as `foreword/static/foreword-static-v1.bin`: embeds without inference. The snapshot has to be built with the
   * same. Memories that are given the same array share one copy of it.
   */
  staticTable?: Uint8Array | ArrayBuffer | ArrayBufferView;
  /** The WebAssembly module, where the entry cannot find it by itself. */
  module?: ModuleSource;
}

export interface RecallOptions {
  scope?: Scope;
  /** Default: the host's clock. */
  now?: Time;
  /** What was true then, instead of now. */
  asOf?: Time;
  /** Also what is no longer in force, labelled. */
  history?: boolean;
  limit?: number;
  /** Only records of these kinds. */
  kinds?: string[];
  /** Ids of providers to ask besides those that the plan names, where memory is needed; a search asks these and the built-in store. */
  providers?: string[];
  /** Probable subject and predicate: what matches is promoted, nothing is removed. */
  about?: string;
  attribute?: string;
  nonce?: string;
  deadlineMs?: number;
  mode?: 'interactive' | 'speculative';
  /** Number of this turn; with it, a prepared result may be served. */
  turn?: number;
  signal?: AbortSignal;
}

/** Records that belong together. */
export interface Theme {
  /** The topic or heading that most of them share, else up to three words that set them apart. */
  title: string;
  /** Up to three of their sentences, oldest first. */
  summary: string;
  /** Number of records in it that may be seen. */
  size: number;
  /** Ids of the most central of them, at most 16. */
  recordIds: string[];
  scope: Scope;
  updated?: string | null;
}

export interface Plan {
  shouldRetrieve: boolean;
  /** Probability that memory helps, 0 to 1. */
  confidence: number;
  topics: string[];
  requests: { providerId: string; query: string; reason: string; limit: number }[];
  /** Why; a "no" has one too. */
  reason: string;
  stage: number;
  signals: Record<string, unknown>;
}

export interface Evidence {
  id: string;
  providerId: string;
  topic?: string | null;
  kind: string;
  title: string;
  subject: string;
  predicate: string;
  text: string;
  freshness: 'undated' | 'fresh' | 'aging' | 'stale' | 'historical';
  changed?: string | null;
  scope: Scope;
  unresolved: boolean;
  /** What results are ordered by; not a confidence in truth. */
  score: number;
  /** The contributions add up to the score. */
  components: { name: string; value: number; contribution: number }[];
  reasons: string[];
  sources: { providerId: string; id: string; uri: string; session: string; speaker: string }[];
  flags: ('instructionLike' | 'conflicting' | 'truncated')[];
  conflictsWith: string[];
}

export interface Block {
  /** Catalog part and recall part; stands before the prompt. Empty when there is nothing to say. */
  text: string;
  catalog: string;
  recall: string;
  /** Ids in the block, as they are cited. */
  included: string[];
  /** Results that did not fit. */
  omitted: number;
  /** Results whose text was cut to fit. */
  shortened: number;
  /** Topics that did not fit. */
  catalogOmitted: number;
  /** Stays the same while the content does. */
  fingerprint: string;
  /** Invisible controls that were made visible. */
  neutralized: number;
  catalogTokens: number;
  recallTokens: number;
}

export interface RecallResult {
  plan: Plan;
  evidence: Evidence[];
  block: Block;
  providers: {
    id: string;
    status: 'ok' | 'timeout' | 'error' | 'aborted';
    elapsedMs: number;
    results: number;
    rejected: number;
    truncated: number;
    message?: string | null;
  }[];
  /** What did not work, and what was done instead. */
  degraded: { part: string; message: string }[];
  revision: string;
  overlayRevision: number;
  /** Of what was prepared: in which turn, from which turn on and until when (a time) it may be served, and whether this is it, served. */
  prepared?: { sourceTurn: number; firstTurn: number; expires?: string | null; served: boolean } | null;
}

export type ModuleSource = WebAssembly.Module | BufferSource | Response | Promise<WebAssembly.Module | BufferSource | Response>;
export type SnapshotSource = Uint8Array | ArrayBuffer | ArrayBufferView | Blob | Response | ReadableStream<Uint8Array>;

/** Codes: SNAPSHOT_CORRUPT, SNAPSHOT_VERSION, MODEL_MISMATCH, INVALID_RECORD, INVALID_CONFIG, INVALID_REQUEST, UNKNOWN_PROVIDER, STATIC_TABLE, RERANK_FAILED, TOO_LARGE, MODULE_LOAD, MODULE_TRAPPED, NOT_INITIALIZED, TIMEOUT (of a store). */
export class ForewordError extends Error {
  readonly code: string;
}

/**
 * A memory: a snapshot, what was learned since, and who else can be asked. Every method that answers at once may throw MODULE_TRAPPED (the module ran out of
 * memory, say): the call had no effect, and the memory goes on.
 */
export class Foreword {
  private constructor();
  /**
   * A snapshot that arrives as a stream is copied while it arrives.
   * @throws ForewordError SNAPSHOT_CORRUPT, SNAPSHOT_VERSION, INVALID_CONFIG, STATIC_TABLE, and MODEL_MISMATCH if it was built with another model than what is given here
   */
  static load(snapshot: SnapshotSource | Promise<SnapshotSource>, options?: Options): Promise<Foreword>;
  static empty(options?: Options): Promise<Foreword>;
  /**
   * Resolves whatever goes wrong while it runs. Should the module trap, it is asked once more of a fresh instance over the same snapshot and all that was
   * learned, and says so in `degraded`.
   * @throws ForewordError INVALID_REQUEST for a caller's mistake
   */
  recall(prompt: string, options?: RecallOptions): Promise<RecallResult>;
  /** @throws ForewordError INVALID_REQUEST, RERANK_FAILED */
  search(query: string, options?: RecallOptions): Promise<RecallResult>;
  prepare(turn: number, prompt: string, options?: RecallOptions): Promise<RecallResult>;
  /**
   * Gives the ids of records whose text is shaped like an instruction to a model; they are kept, and flagged where they are shown.
   * @throws ForewordError INVALID_RECORD; then none of them is learned
   */
  remember(records: MemoryRecord | MemoryRecord[]): string[];
  forget(id: string): boolean;
  /** @throws ForewordError INVALID_REQUEST if there is no such record, INVALID_RECORD */
  supersede(oldId: string, record: MemoryRecord): string[];
  suppress(subject: string, predicate: string): void;
  addTopic(topic: Topic): void;
  browse(request?: {
    order?: 'created_at' | 'updated_at';
    direction?: 'asc' | 'desc';
    cursor?: string;
    limit?: number;
    scope?: Scope;
    now?: Time;
    asOf?: Time;
    history?: boolean;
    kinds?: string[];
  }): { items: { record: MemoryRecord; historical: boolean }[]; nextCursor?: string | null; total: number };
  /**
   * What the visible records are mostly about, largest first; `limit` is 10 by default, at most 1,000. Worked out when the snapshot was built: what was
   * learned since belongs to a theme after `compact`.
   * @throws ForewordError INVALID_REQUEST
   */
  themes(request?: { scope?: Scope; now?: Time; limit?: number }): Theme[];
  reconcile(): Promise<string | undefined>;
  compact(): Uint8Array;
  /**
   * Bytes of the snapshot that was loaded, and characters of the calls by which it has learned since, which are kept for the case that the module traps. `compact`
   * drops them once they are longer than the snapshot that it makes.
   */
  readonly size: { snapshot: number; learned: number };
  info(): {
    version: string;
    records: number;
    learned: number;
    model: string;
    revision: string;
    overlayRevision: number;
    bytes: number;
    providers: string[];
    catalog: { topics: Topic[]; providers: unknown[]; entities: KnownEntity[] };
  };
  dispose(): void;
  [Symbol.dispose](): void;
}

type Many<T> = Iterable<T> | AsyncIterable<T>;

/** Builds a snapshot, `sliceMs` (default 8) milliseconds at a time. Faulty notes and records are in `reports` and cost only themselves. */
export function buildSnapshot(input?: {
  records?: Many<MemoryRecord>;
  topics?: Many<Topic>;
  entities?: Many<KnownEntity>;
  notes?: Many<{ path: string; text: string }>;
  /** Field weights; `defaults().index` shows all of them. */
  index?: Record<string, unknown>;
  /** Share done, 0 to 1. */
  onProgress?: (done: number) => void;
  /** Embeds with this table; whoever loads the snapshot gives the same. */
  staticTable?: Uint8Array | ArrayBuffer | ArrayBufferView;
  sliceMs?: number;
  module?: ModuleSource;
}): Promise<{ bytes: Uint8Array; reports: { file: string; line?: number | null; skipped: boolean; message: string }[] }>;

/** Starts the module: idempotent, and tries again after a failure. */
export function init(module?: ModuleSource): Promise<void>;

/** Every setting at its default. Needs `init`. */
export function defaults(): { config: Config; request: RecallOptions; index: Record<string, unknown> };

/** Whether every `[id]` that an answer cites was retrieved. */
export function checkCitations(answer: string, result: RecallResult): { cited: string[]; unknown: string[]; uncited: string[] };
