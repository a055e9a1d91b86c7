import type { ForewordMiddlewareOptions } from '../workers/index.js';

/** What is used of Hono's `Context`. */
export interface HonoContext {
  readonly req: { raw: Request };
  readonly res: Response;
}

/**
 * Hono middleware for `/v1/chat/completions`, `/v1/responses` (OpenAI) and `/v1/messages` (Anthropic), wherever they are mounted: the handler behind it
 * finds the request with the foreword attached in `c.req`. `scope`, `memory`, `conversation` and the listeners get Hono's context as theirs, with what
 * authentication before it has set: `foreword<Context<Env>>({ scope: (request, c) => ({ tenant: c.get('tenant') }), … })`. Where the body was
 * read before, the request goes on without memory, and `onError` is told INVALID_REQUEST.
 * @throws ForewordError INVALID_CONFIG
 */
export function foreword<Context extends HonoContext = HonoContext>(options: ForewordMiddlewareOptions<Context>): (context: Context, next: () => Promise<void>) => Promise<void>;
