import type { RecallResult, Scope } from '../foreword.js';
import type { ForewordMiddlewareOptions, Memory } from '../workers/index.js';

/** A call of a model, as the AI SDK hands it to a middleware. */
export interface ModelCall {
  readonly params: object;
  readonly model: object;
  readonly type: 'generate' | 'stream';
}

/** Milliseconds; every function may be async. */
export interface ForewordModelOptions<Version extends 'v3' | 'v4' = 'v4'> extends Pick<ForewordMiddlewareOptions, 'place' | 'timeoutMs' | 'recall'> {
  /** The memory, or which one for this scope; undefined means none. */
  memory: Memory | ((asked: { scope: Scope; request: ModelCall }) => Memory | undefined | Promise<Memory | undefined>);
  /**
   * Whose memories may be seen: from whoever was authenticated before the model was called, never from the prompt. Make the middleware for each
   * request, or read a store of the request's. Undefined: no memory for this call.
   */
  scope(call: ModelCall): Scope | undefined | Promise<Scope | undefined>;
  /** Told of every recall. */
  onRecall?(result: RecallResult): unknown;
  /** Told why a call went on without memory. */
  onError?(error: unknown): unknown;
  /** What the middleware says it follows: 'v4' for version 7 of the SDK, which is the default, 'v3' for version 6. Version 5 does not ask. */
  specificationVersion?: Version;
}

/** A middleware of the SDK's versions 5 to 7. */
export interface ForewordModelMiddleware<Version extends 'v3' | 'v4' = 'v4'> {
  readonly specificationVersion: Version;
  transformParams<Params extends { prompt: readonly { role: string; content: unknown }[] }>(call: { type: 'generate' | 'stream'; params: Params; model: object }): Promise<Params>;
}

/**
 * For `wrapLanguageModel({ model, middleware })`: attaches the foreword before the user's last words, or behind the system text. A call with
 * tools is asked at each step; the same words get the same block as long as the memory stays the same.
 * @throws ForewordError INVALID_CONFIG
 */
export function foreword<Version extends 'v3' | 'v4' = 'v4'>(options: ForewordModelOptions<Version>): ForewordModelMiddleware<Version>;
