// Bytes from wherever they are.
import { ForewordError, reading } from './errors.js';

/**
 * The bytes of a view or buffer as they lie there, not a copy; undefined for anything else. Those that were handed over to a worker are not there any more.
 * @throws ForewordError with `code`
 */
export function viewOf(given, code) {
  return reading(() => {
    if (given instanceof ArrayBuffer) return new Uint8Array(given);
    if (!(given instanceof Uint8Array) && !ArrayBuffer.isView(given)) return undefined;
    const view = new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
    // The array itself, where it is one: memories that are given the same one share what is made of it.
    return given instanceof Uint8Array ? given : view;
  }, code);
}

/** The bytes of a static table, if one is given. */
export function tableOf(given) {
  if (given === undefined) return undefined;
  const view = viewOf(given, 'STATIC_TABLE');
  if (!view) throw new ForewordError('STATIC_TABLE', 'a static table is a Uint8Array or ArrayBuffer');
  return view;
}

/** Copies a snapshot into the module, a stream while it is still arriving. */
export async function received(instance, given) {
  const view = viewOf(given);
  if (view) return instance.filled(view);
  // Looked for by what it has: naming `Response` would make Node load an HTTP client.
  if (given?.ok === false) throw new ForewordError('INVALID_REQUEST', `the snapshot could not be fetched: HTTP ${given.status} for ${given.url}`);
  const stream = typeof given?.getReader === 'function' ? given : (given?.body ?? given?.stream?.());
  if (typeof stream?.getReader === 'function') return streamed(instance, stream, sizeOf(given));
  if (typeof given?.arrayBuffer === 'function') return instance.filled(new Uint8Array(await given.arrayBuffer()));
  throw new ForewordError('INVALID_REQUEST', 'a snapshot is a Uint8Array, ArrayBuffer, Blob, Response or ReadableStream');
}

/** Room made for a length that somebody else states. */
const MOST_EXPECTED = 64 << 20;

function sizeOf(given) {
  const stated = Number(given.size ?? given.headers?.get?.('content-length') ?? 0);
  return stated > 0 ? Math.min(Math.floor(stated), MOST_EXPECTED) : 0;
}

async function streamed(instance, stream, expected) {
  const into = instance.run((api) => new api.WasmBytes(expected));
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return into;
      const piece = viewOf(value);
      if (!piece) throw new ForewordError('INVALID_REQUEST', 'a stream of a snapshot gives Uint8Arrays');
      instance.run(() => into.push(piece));
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    if (!instance.trapped) into.free();
    throw error;
  }
}
