import type { Provider, Scope } from '../foreword.js';
import type { Spec } from './spec.js';

export interface HttpOptions extends Spec {
  url: string | URL;
  /** Sent with every request; a function is asked each time, and may fetch a token. */
  headers?: Record<string, string> | ((asked: { scope: Scope }) => Record<string, string> | Promise<Record<string, string>>);
  /** Of the answer. Default 1 MiB. */
  maxBytes?: number;
  /** Default: the host's. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * Posts `{ query, limit, scope, reason }` as JSON; the answer is an array of results (`ProviderResult`), or an object that holds one as `results`.
 * A redirect is not followed, and an answer that is too long or none in JSON is a failure of this provider.
 */
export function http(options: HttpOptions): Provider;
