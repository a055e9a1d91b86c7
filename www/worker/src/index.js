// A gateway before a model's API that remembers: every tenant has a memory of its own in R2, and every user sees their own part of it.
import { Foreword } from 'foreword';
import { MemoryPool, r2 } from 'foreword/storage';
import { searchHandler, withForeword } from 'foreword/workers';
import { whoIs } from './auth.js';

/** Of what anybody may teach in one request. */
const MOST_BYTES = 256 << 10;

/** One gateway an isolate: its memories stay loaded from request to request. */
let gateway;

export default {
  async fetch(request, env, context) {
    const user = await whoIs(request, env.USERS);
    if (!user) return problem(401, 'who are you? Send the key that you were given as a bearer token');
    gateway ??= open(env);
    const { pathname } = new URL(request.url);
    // What a host does with the request is decided by who sent it, never by what it says.
    return answer(gateway, request, pathname, { user, env, context });
  },
};

function open(env) {
  const pool = new MemoryPool({ Foreword, store: r2(env.MEMORIES), maxBytes: 48 << 20, maxAgeMs: 60_000 });
  const shared = {
    scope: (request, { user }) => ({ user: user.user }),
    memory: ({ context: { user } }) => pool.tenant(user.tenant),
    onError: (error) => console.error(error.code ?? error.name, error.message),
  };
  return {
    pool,
    search: searchHandler(shared),
    ask: withForeword({
      ...shared,
      upstream: env.UPSTREAM,
      forward: (request, { env }) => fetch(keyed(request, env.UPSTREAM_KEY)),
    }),
  };
}

/** The sender's key opens the gateway, the gateway's own key opens the model. */
function keyed(request, key) {
  const headers = new Headers(request.headers);
  // In the header that it came in: Anthropic's clients have another one than OpenAI's.
  const anthropic = headers.has('x-api-key');
  headers.delete('authorization');
  headers.delete('x-api-key');
  headers.set(...(anthropic ? ['x-api-key', key] : ['authorization', `Bearer ${key}`]));
  return new Request(request, { headers });
}

async function answer({ pool, search, ask }, request, pathname, known) {
  const { tenant, user } = known.user;
  if (pathname === '/search') return search(request, known);
  if (pathname === '/memories' && request.method === 'POST') {
    const records = await recordsOf(request, user);
    if (!records) return problem(400, `send records as JSON, an array of at most ${MOST_BYTES} bytes: [{"id", "statement"}]`);
    try {
      // Answered when they are in the bucket.
      const flagged = await pool.use(tenant, (memory) => memory.remember(records));
      return Response.json({ learned: records.length, flagged }, { status: 201 });
    } catch (error) {
      if (error.code !== 'INVALID_RECORD') console.error(error);
      return error.code === 'INVALID_RECORD' ? problem(400, error.message) : problem(503, 'the memory cannot be changed now');
    }
  }
  if (pathname.startsWith('/v1/')) return ask(request, known);
  return problem(404, 'there are POST /v1/…, /search and /memories');
}

/** What a user teaches is seen by that user, and replaces nobody else's: id and scope are not the body's to choose. */
async function recordsOf(request, user) {
  if (Number(request.headers.get('content-length') ?? Infinity) > MOST_BYTES) return undefined;
  const records = await request.json().catch(() => undefined);
  if (!Array.isArray(records) || !records.every((record) => record && typeof record === 'object')) return undefined;
  return records.map(({ id, statement, title, kind, tags, cues, entities }) => {
    const own = { id: `${encodeURIComponent(user)}/${id ?? crypto.randomUUID()}`, scope: { user }, created: Date.now() };
    return { ...JSON.parse(JSON.stringify({ statement, title, kind, tags, cues, entities })), ...own };
  });
}

function problem(status, message) {
  return Response.json({ error: { message } }, { status });
}
