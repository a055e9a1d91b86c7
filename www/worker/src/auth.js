// Who sends a request, by the key that it carries.

/**
 * `{ tenant, user }` of the bearer token, or of the `x-api-key` that Anthropic's clients send; undefined for nobody. `users` is JSON: the SHA-256 of each
 * key in hexadecimal, and whose it is. Keys are looked up by their digest, so that how long that takes tells nothing of them.
 */
export async function whoIs(request, users) {
  const key = request.headers.get('authorization')?.match(/^Bearer (.+)$/)?.[1] ?? request.headers.get('x-api-key');
  if (!key) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
  const known = JSON.parse(users ?? '{}');
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return Object.hasOwn(known, hex) ? known[hex] : undefined;
}
