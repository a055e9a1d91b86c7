// The body of a request, up to a limit.

/** Headers that vouch for the bytes of a body, or say that they are not the text itself: such a body is left alone. */
const VOUCHING = ['content-digest', 'digest', 'content-md5', 'signature', 'x-amz-content-sha256'];

/** Whether a request brings JSON that may be edited. */
export function mayBeEdited(request, maxBytes) {
  const { headers } = request;
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  return (
    request.method === 'POST' &&
    request.body !== null &&
    !request.bodyUsed &&
    !request.body?.locked &&
    /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers.get('content-type') ?? '') &&
    (encoding === '' || encoding === 'identity') &&
    !VOUCHING.some((name) => headers.has(name)) &&
    !(Number(headers.get('content-length')) > maxBytes)
  );
}

/** Whether the host gives a request's body as a whole only, as Firefox does: there it is not to be seen, nor does it go over into another request. */
export function isHidden({ body, method }) {
  return body === undefined && method !== 'GET' && method !== 'HEAD';
}

/** `{ bytes }` of a body, or all of it as `{ longer }` when that is more than `maxBytes`. Rejects when the sender breaks off. */
export async function readUpTo(request, maxBytes) {
  if (isHidden(request)) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    return bytes.length > maxBytes ? { longer: bytes } : { bytes };
  }
  if (!request.body) return { bytes: new Uint8Array() };
  const reader = request.body.getReader();
  const chunks = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.byteLength;
    if (length > maxBytes) return { longer: resumed(chunks, reader) };
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return { bytes };
}

function resumed(chunks, reader) {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = chunks.length > 0 ? { value: chunks.shift() } : await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The request with another body. The host computes its length. */
export function withBody(request, body) {
  const headers = new Headers(request.headers);
  headers.delete('content-length');
  const stream = typeof body.getReader === 'function';
  return new Request(request, { headers, body, ...(stream && { duplex: 'half' }) });
}

/** A text of UTF-8 that begins with what it says; undefined for anything else. */
export function textOf(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
