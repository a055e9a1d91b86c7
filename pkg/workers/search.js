import { ForewordError, isTyped } from '../errors.js';
import { readUpTo, textOf } from './body.js';
import { isScope, memoryFor, nothingElse, tell } from './attach.js';

const MAX_BYTES = 64 << 10;
const MAX_RESULTS = 50;

/** A handler of `POST {query, topK}` that answers with what matches, within the scope of whoever asks. */
export function searchHandler({ memory, scope, search, onError, ...unknown } = {}) {
  nothingElse(unknown);
  if (typeof scope !== 'function') throw new ForewordError('INVALID_CONFIG', 'scope is a function from the request, whose sender it authenticates, to a scope; or to undefined for nobody');
  if (typeof memory !== 'function' && typeof memory?.search !== 'function') throw new ForewordError('INVALID_CONFIG', 'memory is a Foreword, or a function that gives one');
  return async (request, context) => {
    if (request.method !== 'POST') return json(405, failure('METHOD_NOT_ALLOWED', 'POST {"query", "topK"}'), { allow: 'POST' });
    try {
      const allowed = await scope(request, context);
      if (!isScope(allowed)) return json(401, failure('UNAUTHENTICATED', 'who are you?'));
      const { query, topK } = await asked(request);
      const found = await memoryFor(memory, allowed, request, context);
      if (!found) return json(200, { results: [], degraded: [] });
      const { evidence, degraded } = await found.search(query, { ...search, limit: topK, scope: allowed, signal: request.signal });
      return json(200, { results: evidence.map(shown), degraded });
    } catch (error) {
      if (error instanceof Refused) return json(error.status, failure('INVALID_REQUEST', error.message));
      tell(onError, error, context);
      return json(500, failure(isTyped(error) ? error.code : 'INTERNAL', 'the search failed'));
    }
  };
}

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function asked(request) {
  const { bytes } = await readUpTo(request, MAX_BYTES);
  if (!bytes) throw new Refused(413, `the body is longer than ${MAX_BYTES} bytes`);
  let body;
  try {
    body = JSON.parse(textOf(bytes) ?? '');
  } catch {
    throw new Refused(400, 'the body is not JSON');
  }
  const { query, topK = 8 } = body ?? {};
  if (typeof query !== 'string' || query.trim() === '') throw new Refused(400, 'query is a string with something in it');
  if (!Number.isInteger(topK) || topK < 1 || topK > MAX_RESULTS) throw new Refused(400, `topK is a whole number from 1 to ${MAX_RESULTS}`);
  return { query, topK };
}

/** What of a piece of evidence goes to a client. */
export function shown({ id, providerId, kind, topic, title, text, freshness, changed, score, reasons, sources }) {
  return { id, providerId, kind, topic: topic ?? null, title, text, freshness, changed: changed ?? null, score, reasons, sources };
}

function failure(code, message) {
  return { error: { code, message } };
}

function json(status, body, headers) {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers } });
}
