// Middleware for whatever speaks fetch: Cloudflare Workers, Deno, Bun, service workers, Node.
import { ForewordError } from '../errors.js';
import { attach, settings } from './attach.js';
import { isHidden } from './body.js';

export { searchHandler } from './search.js';

/**
 * A function from a request to a model's API to the answer: it recalls on the user's last words, attaches the foreword, forwards the request and
 * hands the answer through untouched. What it does not understand, and whatever goes wrong with memory, goes on byte for byte.
 */
export function withForeword({ upstream, forward = (request) => fetch(request), ...options } = {}) {
  const given = settings(options);
  const base = upstream === undefined ? undefined : urlOf(upstream);
  return async (request, context) => {
    // Moved before it gets its body: a request that is made of another one no longer knows its length.
    const sent = await attach(request, given, context, base && (await moved(request, base)));
    const response = await forward(sent.request, context);
    sent.answered(response);
    return response;
  };
}

function urlOf(upstream) {
  try {
    return new URL(upstream);
  } catch (cause) {
    throw new ForewordError('INVALID_CONFIG', 'upstream is an absolute URL', { cause });
  }
}

/** The request to the same path and query below another base. */
async function moved(request, base) {
  const { pathname, search } = new URL(request.url);
  const url = new URL(base);
  url.pathname = base.pathname.replace(/\/$/, '') + pathname;
  url.search = search;
  const made = new Request(url, request);
  return isHidden(request) ? new Request(made, { body: await request.arrayBuffer() }) : made;
}
