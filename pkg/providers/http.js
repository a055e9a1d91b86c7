// A search service of one's own, asked over HTTP.
import { ForewordError } from '../errors.js';

/** Posts `{ query, limit, scope, reason }` as JSON; the answer is an array of results, or an object that holds one as `results`. */
export function http({ url, headers = {}, maxBytes = 1 << 20, fetch: send = (...given) => fetch(...given), ...spec }) {
  const address = `${url}`;
  return {
    ...spec,
    async search({ query, limit, scope, reason }, { signal } = {}) {
      const asked = typeof headers === 'function' ? await headers({ scope }) : headers;
      const response = await send(address, {
        method: 'POST',
        headers: { accept: 'application/json', ...asked, 'content-type': 'application/json' },
        body: JSON.stringify({ query, limit, scope, reason }),
        // Neither the query nor what authorizes it is carried elsewhere.
        redirect: 'manual',
        signal,
      });
      if (!response.ok) {
        response.body?.cancel().catch(() => {});
        throw new Error(`HTTP ${response.status}`);
      }
      const answer = JSON.parse(await text(response, maxBytes));
      const results = Array.isArray(answer) ? answer : answer?.results;
      if (!Array.isArray(results)) throw new Error('the answer is neither an array nor an object with an array `results`');
      return results.slice(0, limit);
    },
  };
}

async function text(response, maxBytes) {
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let [whole, length] = ['', 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return whole + decoder.decode();
    length += value.length;
    if (length > maxBytes) {
      reader.cancel().catch(() => {});
      throw new ForewordError('TOO_LARGE', `the answer is longer than ${maxBytes} bytes`);
    }
    whole += decoder.decode(value, { stream: true });
  }
}
