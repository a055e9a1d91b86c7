// The same work in every host: what it prints must be the same to the byte. Runs wherever JavaScript runs, so it uses nothing but the package.

export async function vector({ Foreword, buildSnapshot }, { notes, prompts, now }) {
  const nonce = 'vector0nonce1';
  const { bytes, reports } = await buildSnapshot({ notes });
  const memory = await Foreword.load(bytes, {
    nonce,
    providers: [
      { id: 'minutes', topics: '*', search: async ({ query }) => [{ id: 1, text: `Minutes on ${query}: agreed, naïve café ☕, 𝒜.`, updated: '2025-11-20' }] },
      { id: 'broken', topics: '*', search: () => Promise.reject(new Error('unavailable')) },
    ],
  });
  const results = [];
  for (const prompt of prompts) results.push(await memory.recall(prompt, { now }));
  memory.remember({ id: 'learned', kind: 'decision', statement: 'The berth map is redrawn in Kiel every spring.', created: '2025-11-30' });
  results.push(await memory.search('who redraws the berth map', { now }));
  const compacted = memory.compact();
  memory.dispose();
  // Time is the one thing in which hosts may differ.
  for (const { providers } of results) for (const provider of providers) provider.elapsedMs = 0;
  return JSON.stringify({ snapshot: fnv(bytes), compacted: fnv(compacted), reports, results });
}

/** FNV-1a over bytes: hosts outside secure contexts have no digest of their own. */
function fnv(bytes) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return `${bytes.length}:${hash.toString(16)}`;
}
