// Middleware for Hono: what `withForeword` does to a request, before the handler that sends it on.
import { ForewordError } from '../errors.js';
import { attach, settings, tell } from '../workers/attach.js';

/** Middleware after which `c.req.raw` is the request with the foreword attached; what it does not understand, and whatever goes wrong with memory, stays as it came. */
export function foreword(options) {
  const given = settings(options);
  return async (context, next) => {
    const { req } = context;
    if (req.raw.bodyUsed) {
      tell(given.onError, new ForewordError('INVALID_REQUEST', 'the body was read before: put what reads it behind foreword'), context);
      return next();
    }
    const sent = await attach(req.raw, given, context);
    req.raw = sent.request;
    await next();
    sent.answered(context.res);
  };
}
