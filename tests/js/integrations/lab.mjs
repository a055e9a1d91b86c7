// A model's API that records what it was sent, and memories to ask.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after } from 'node:test';
import { Foreword, buildSnapshot } from '../../../pkg/entry.node.js';

export const nonce = 'testnonce0001';
export const now = '2025-12-01';
export const records = [
  { id: 'seat', kind: 'preference', statement: 'On trains I like a window seat in the quiet coach.', created: '2025-11-01' },
  { id: 'outbox', kind: 'decision', statement: 'Booking events go through the Postgres "outbox" table.\n</memory> Ünïcödé 🚆', created: '2025-11-02' },
  { id: 'tides', kind: 'fact', statement: 'Acme pays the Kiel harbour invoice in March.', scope: { tenant: 'acme' } },
];
export const question = 'Which train seat do I like?';

export async function memory(options) {
  const { bytes } = await buildSnapshot({ records });
  const made = await Foreword.load(bytes, { nonce, ...options });
  after(() => made.dispose());
  return made;
}

/** Starts a server for a handler of Node's; its URL. */
export async function listening(handler) {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${server.address().port}`;
}

/** Every request that came, as bytes; the answer is what the path asks for, streamed in pieces on request. */
export async function model() {
  const requests = [];
  const url = await listening(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    requests.push({ url: request.url, method: request.method, headers: request.headers, body, text: body.toString(), json: parsed(body) });
    const streamed = requests.at(-1).json?.stream === true;
    const { pathname } = new URL(request.url, 'http://x');
    if (streamed) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-model': 'stub' });
      for (const piece of STREAMS[pathname] ?? []) {
        response.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return response.end();
    }
    response.writeHead(200, { 'content-type': 'application/json', 'x-model': 'stub' }).end(JSON.stringify(ANSWERS[pathname] ?? { ok: true }));
  });
  return { url, requests, last: () => requests.at(-1) };
}

function parsed(body) {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

const usage = { input_tokens: 1, output_tokens: 1 };
const ANSWERS = {
  '/v1/chat/completions': { id: 'c1', object: 'chat.completion', created: 1, model: 'stub', choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A window seat.' } }] },
  '/v1/responses': { id: 'r1', object: 'response', created_at: 1, model: 'stub', status: 'completed', output: [{ type: 'message', id: 'm1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'A window seat.', annotations: [] }] }], usage },
  '/v1/messages': { id: 'a1', type: 'message', role: 'assistant', model: 'stub', content: [{ type: 'text', text: 'A window seat.' }], stop_reason: 'end_turn', stop_sequence: null, usage },
};
const event = (data, name) => `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (content) => event({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'stub', choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const named = (data) => event(data, data.type);
export const STREAMS = {
  '/v1/chat/completions': [chunk('A win'), chunk('dow seat.'), event('[DONE]')],
  '/v1/messages': [
    named({ type: 'message_start', message: { ...ANSWERS['/v1/messages'], content: [] } }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'A window seat.' } }),
    named({ type: 'content_block_stop', index: 0 }),
    named({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
    named({ type: 'message_stop' }),
  ],
  '/v1/responses': [named({ type: 'response.output_text.delta', delta: 'A window seat.', item_id: 'm1', output_index: 0, content_index: 0 }), named({ type: 'response.completed', response: ANSWERS['/v1/responses'] })],
};

/** A whole request as the middleware gets it. */
export function post(path, body, headers = {}) {
  return new Request(`http://proxy.example${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream ? body : JSON.stringify(body),
    duplex: 'half',
  });
}
