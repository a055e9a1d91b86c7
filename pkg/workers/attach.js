// From a request to the same request with a foreword: shared by the middlewares that see requests.
import { ForewordError } from '../errors.js';
import { mayBeEdited, readUpTo, textOf, withBody } from './body.js';
import { Attached } from './attached.js';
import { escaped } from './json.js';
import { shapeOf, understood } from './shapes.js';

/** Checks the settings once. @throws ForewordError INVALID_CONFIG */
export function settings({ memory, scope, place = 'user', timeoutMs = 1000, maxBytes = 4 << 20, recall, conversation, onRecall, onError, ...unknown } = {}) {
  const wrong = (message) => new ForewordError('INVALID_CONFIG', message);
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw wrong(`${name} is not a setting`);
  if (typeof memory !== 'function' && typeof memory?.recall !== 'function') throw wrong('memory is a Foreword, or a function that gives one');
  if (typeof scope !== 'function') throw wrong('scope is a function from the request, whose sender it authenticates, to a scope; or to undefined for no memory');
  if (place !== 'user' && place !== 'system') throw wrong("place is 'user' or 'system'");
  if (!(timeoutMs > 0)) throw wrong('timeoutMs is a positive number of milliseconds');
  if (!(maxBytes > 0)) throw wrong('maxBytes is a positive number of bytes');
  return { memory, scope, place, timeoutMs, maxBytes, recall, conversation, attached: new Attached(), onRecall, onError };
}

/**
 * The request with a foreword attached, or one of the same bytes; and what to do once it is answered. `outgoing` is the request as it is to go on,
 * with the body. Rejects only when the sender breaks off while the body is read.
 */
export async function attach(request, given, context, outgoing = request) {
  const shape = shapeOf(new URL(request.url).pathname);
  if (!shape || !mayBeEdited(outgoing, given.maxBytes)) return { request: outgoing, answered() {} };
  const { bytes, stream } = await readUpTo(outgoing.body, given.maxBytes);
  const as = (body) => ({ request: withBody(outgoing, body), answered() {} });
  if (stream) return as(stream);
  const text = textOf(bytes);
  const body = text === undefined ? undefined : understood(text, shape);
  if (!body) return as(bytes);
  try {
    const found = await inTime(recalled(request, body.words, given, context), given.timeoutMs);
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

/** What is attached before words, unless nobody is known to ask or there is no memory. */
export async function recalled(request, words, given, context, signal = request.signal) {
  const scope = await given.scope(request, context);
  if (!isScope(scope)) return undefined;
  const memory = await memoryFor(given.memory, scope, request, context);
  if (!memory) return undefined;
  const result = await memory.recall(words, { deadlineMs: given.timeoutMs, ...given.recall, scope, signal });
  tell(given.onRecall, result, context);
  const conversation = await given.conversation?.(request, context);
  return { block: result.block, conversation };
}

/** A scope is what the host says it is; nothing stands in for one. */
export function isScope(scope) {
  return typeof scope === 'object' && scope !== null;
}

export function memoryFor(memory, scope, request, context) {
  return typeof memory === 'function' ? memory({ scope, request, context }) : memory;
}

/** Rejects after `ms`, whatever the promise does. */
export function inTime(promise, ms) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new ForewordError('TIMEOUT', `no memory within ${ms} ms; the request goes on without`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A listener's own fault is not the request's. */
export function tell(listener, ...what) {
  try {
    Promise.resolve(listener?.(...what)).catch(() => {});
  } catch {
    // Said to nobody: there is nobody left to tell.
  }
}
