// The worker that in-workerd.mjs asks. Its clock has steps of a millisecond, so a query is repeated until it takes long enough to tell.
const LIMIT = 10;
const LONG_ENOUGH_MS = 10;

let bytes;
let peer;
let loaded;

const steps = {
  '/nothing': () => ({}),
  '/take': async (request) => {
    bytes = new Uint8Array(await request.arrayBuffer());
    return {};
  },
  '/load': async (request) => {
    const prompt = await request.text();
    const start = performance.now();
    ({ default: peer } = await import('./peer.mjs'));
    loaded = await peer.load(bytes);
    await peer.query(loaded, prompt, LIMIT);
    const coldMs = performance.now() - start;
    bytes = undefined;
    return { coldMs };
  },
  '/ask': async (request) => {
    const prompts = await request.json();
    for (const text of prompts) await peer.query(loaded, text, LIMIT);
    const [times, answers] = [[], []];
    for (const text of prompts) {
      const start = performance.now();
      let [hits, repeats] = [[], 0];
      do {
        hits = await peer.query(loaded, text, LIMIT);
        repeats++;
      } while (performance.now() - start < LONG_ENOUGH_MS);
      times.push((performance.now() - start) / repeats);
      answers.push(hits.map(({ id }) => id));
    }
    return { times, answers };
  },
};

export default {
  async fetch(request) {
    try {
      return Response.json(await steps[new URL(request.url).pathname](request));
    } catch (error) {
      return new Response(`${error.stack ?? error}`, { status: 500 });
    }
  },
};
