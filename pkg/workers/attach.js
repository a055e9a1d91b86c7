// From a request to the same request with a foreword: shared by the middlewares that see requests.
import { ForewordError } from '../errors.js';
import { inTime } from '../pace.js';
import { mayBeEdited, readUpTo, textOf, withBody } from './body.js';
import { Attached } from './attached.js';
import { escaped } from './json.js';
import { shapeOf, understood } from './shapes.js';

/** Checks the settings once. @throws ForewordError INVALID_CONFIG */
export function settings({ memory, scope, place = 'user', timeoutMs = 1000, maxBytes = 4 << 20, recall, conversation, onRecall, onError, ...unknown } = {}) {
  const wrong = (message) => new ForewordError('INVALID_CONFIG', message);
  nothingElse(unknown);
  if (typeof memory !== 'function' && typeof memory?.recall !== 'function') throw wrong('memory is a Foreword, or a function that gives one');
  if (typeof scope !== 'function') throw wrong('scope is a function from the request, whose sender it authenticates, to a scope; or to undefined for no memory');
  if (place !== 'user' && place !== 'system') throw wrong("place is 'user' or 'system'");
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) throw wrong('timeoutMs is a positive number of milliseconds');
  if (typeof maxBytes !== 'number' || !(maxBytes > 0)) throw wrong('maxBytes is a positive number of bytes');
  return { memory, scope, place, timeoutMs, maxBytes, recall, conversation, attached: new Attached(), onRecall, onError };
}

/** A setting that does not exist is a mistake that would otherwise go unnoticed. @throws ForewordError INVALID_CONFIG */
export function nothingElse(unknown) {
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw new ForewordError('INVALID_CONFIG', `${name} is not a setting`);
}

/**
 * The request with a foreword attached, or one of the same bytes; and what to do once it is answered. `outgoing` is the request as it is to go on,
 * with the body. Rejects only when the sender breaks off while the body is read.
 */
export async function attach(request, given, context, outgoing = request) {
  const shape = shapeOf(new URL(request.url).pathname);
  if (!shape || !mayBeEdited(outgoing, given.maxBytes)) return { request: outgoing, answered() {} };
  const { bytes, longer } = await readUpTo(outgoing, given.maxBytes);
  const as = (body) => ({ request: withBody(outgoing, body), answered() {} });
  if (longer) return as(longer);
  const text = textOf(bytes);
  const body = text === undefined ? undefined : understood(text, shape);
  if (!body) return as(bytes);
  try {
    const found = await recalled(request, body.words, given, context);
    const block = found?.block.text;
    if (!block || text.includes(escaped(block)) || given.attached.has(found)) return as(bytes);
    const edited = body[given.place](block);
    if (edited === undefined) return as(bytes);
    return { request: withBody(outgoing, edited), answered: (response) => response.ok && given.attached.add(found) };
  } catch (error) {
    tell(given.onError, error, context);
    return as(bytes);
  }
}

/** What a recall leaves of the time for memory at most, in milliseconds, so that what it has by its deadline is still used: a hung provider costs its own results. */
const SPARE_MS = 50;

/** What is attached before words, unless nobody is known to ask or there is no memory. Rejects once the time for memory is up. */
export function recalled(request, words, given, context, signal = request.signal) {
  const { timeoutMs } = given;
  const until = performance.now() + timeoutMs - Math.min(SPARE_MS, timeoutMs / 10);
  const late = () => new ForewordError('TIMEOUT', `no memory within ${timeoutMs} ms; the request goes on without`);
  return inTime(recalledBy(until, request, words, given, context, signal), timeoutMs, late);
}

async function recalledBy(until, request, words, given, context, signal) {
  const scope = await given.scope(request, context);
  if (!isScope(scope)) return undefined;
  const memory = await memoryFor(given.memory, scope, request, context);
  if (!memory) return undefined;
  const conversation = await given.conversation?.(request, context);
  const deadlineMs = Math.min(given.recall?.deadlineMs ?? Infinity, Math.max(1, until - performance.now()));
  const result = await memory.recall(words, { ...given.recall, deadlineMs, scope, signal });
  tell(given.onRecall, result, context);
  return { block: result.block, conversation };
}

/** A scope is what the host says it is; nothing stands in for one. */
export function isScope(scope) {
  return typeof scope === 'object' && scope !== null && !Array.isArray(scope);
}

export function memoryFor(memory, scope, request, context) {
  return typeof memory === 'function' ? memory({ scope, request, context }) : memory;
}

/** A listener's own fault is not the request's. */
export function tell(listener, ...what) {
  try {
    Promise.resolve(listener?.(...what)).catch(() => {});
  } catch {
    // Said to nobody: there is nobody left to tell.
  }
}
