import type { Foreword, RecallOptions, RecallResult, Scope } from '../foreword.js';

/** What is asked: a Foreword, or a tenant of a MemoryPool. */
export type Memory = Pick<Foreword, 'recall' | 'search'>;

/** Milliseconds, bytes; every function may be async. `Context` is whatever the host passes as second argument. */
export interface ForewordMiddlewareOptions<Context = unknown> {
  /** The memory, or which one for this scope; undefined means none. */
  memory: Memory | ((asked: { scope: Scope; request: Request; context: Context }) => Memory | undefined | Promise<Memory | undefined>);
  /** Whose memories may be seen, from the sender's authentication. Never read it from the body. Undefined: no memory for this request. */
  scope(request: Request, context: Context): Scope | undefined | Promise<Scope | undefined>;
  /** Before the user's last words, or behind the system text, which spoils the model's prompt cache whenever the block changes. Default 'user'. */
  place?: 'user' | 'system';
  /** How long memory may take, `scope` and `memory` included. A little before, what a recall has by then is used. Default 1,000. */
  timeoutMs?: number;
  /** Longer bodies go on unread. Default 4 MiB. */
  maxBytes?: number;
  /** Further options of every recall. */
  recall?: Omit<RecallOptions, 'scope' | 'signal'>;
  /** For an API that keeps the conversation itself: its id. A block that has gone into it is not attached again. */
  conversation?(request: Request, context: Context): string | undefined | Promise<string | undefined>;
  /** Told of every recall. */
  onRecall?(result: RecallResult, context: Context): unknown;
  /** Told why a request went on without memory. */
  onError?(error: unknown, context: Context): unknown;
}

export interface WithForewordOptions<Context = unknown> extends ForewordMiddlewareOptions<Context> {
  /** Base URL of the model's API; the path and query of the request are put behind it. Default: the request goes where it was going. */
  upstream?: string | URL;
  /** Sends the request. Default: `fetch`. */
  forward?(request: Request, context: Context): Response | Promise<Response>;
}

/**
 * Middleware for `/v1/chat/completions`, `/v1/responses` (OpenAI) and `/v1/messages` (Anthropic).
 * @throws ForewordError INVALID_CONFIG
 */
export function withForeword<Context = unknown>(options: WithForewordOptions<Context>): (request: Request, context?: Context) => Promise<Response>;

export interface SearchHandlerOptions<Context = unknown> extends Pick<ForewordMiddlewareOptions<Context>, 'memory' | 'onError'> {
  /** Undefined is answered with 401. */
  scope: ForewordMiddlewareOptions<Context>['scope'];
  /** Further options of every search. */
  search?: Omit<RecallOptions, 'scope' | 'signal' | 'limit'>;
}

/**
 * Handler of `POST {"query": string, "topK"?: 1 to 50, default 8}`, at most 64 KiB. Answers `{"results": [...], "degraded": [...]}`, or
 * `{"error": {"code", "message"}}` with status 400, 401, 405, 413 or 500.
 * @throws ForewordError INVALID_CONFIG
 */
export function searchHandler<Context = unknown>(options: SearchHandlerOptions<Context>): (request: Request, context?: Context) => Promise<Response>;
