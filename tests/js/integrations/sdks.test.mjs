// The clients that people have, with the middleware in their way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { withForeword } from '../../../pkg/workers/index.js';
import { memory, model, now, question } from './lab.mjs';

const asked = await memory();
const stub = await model();
const handle = withForeword({ memory: asked, upstream: stub.url, recall: { now }, onError: (error) => faults.push(error), scope: (request) => (request.headers.get('authorization') ?? request.headers.get('x-api-key')) && {} });
const faults = [];
const fetch = (url, init) => handle(new Request(url, init));
const openai = new OpenAI({ apiKey: 'k', baseURL: 'http://proxy.example/v1', fetch, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: 'k', baseURL: 'http://proxy.example', fetch, maxRetries: 0 });
const { block } = await asked.recall(question, { now });
const tools = [{ type: 'function', function: { name: 'book', description: 'Books a seat.', parameters: { type: 'object', properties: { seat: { type: 'string' } } } } }];

test('openai: chat completions', async () => {
  assert.ok(block.recall.includes('window seat'));
  const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi' }, { role: 'user', content: question }];
  const answer = await openai.chat.completions.create({ model: 'stub', tools, messages });
  assert.equal(answer.choices[0].message.content, 'A window seat.');
  const { json, headers, body } = stub.last();
  assert.deepEqual(json, { model: 'stub', tools, messages: [...messages.slice(0, 3), { role: 'user', content: block.text + question }] });
  assert.equal(headers['content-length'], String(body.length));
  assert.equal(headers.authorization, 'Bearer k');
});

test('openai: a streamed chat completion', async () => {
  let text = '';
  for await (const part of await openai.chat.completions.create({ model: 'stub', stream: true, messages: [{ role: 'user', content: question }] })) text += part.choices[0]?.delta.content ?? '';
  assert.equal(text, 'A window seat.');
  assert.equal(stub.last().json.messages[0].content, block.text + question);
});

test('openai: responses, from a string and from items, streamed too', async () => {
  const answer = await openai.responses.create({ model: 'stub', input: question, instructions: 'Be brief.' });
  assert.equal(answer.output_text, 'A window seat.');
  assert.deepEqual(stub.last().json, { model: 'stub', input: block.text + question, instructions: 'Be brief.' });
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' };
  const input = [{ role: 'user', content: [image, { type: 'input_text', text: question }] }];
  let text = '';
  for await (const event of await openai.responses.create({ model: 'stub', input, stream: true })) if (event.type === 'response.output_text.delta') text += event.delta;
  assert.equal(text, 'A window seat.');
  assert.deepEqual(stub.last().json.input[0].content, [image, { type: 'input_text', text: block.text }, { type: 'input_text', text: question }]);
});

test('anthropic: messages with a system text, tools and an image', async () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const given = {
    model: 'stub',
    max_tokens: 64,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'book', description: 'Books.', input_schema: { type: 'object' } }],
    messages: [{ role: 'user', content: [image, { type: 'text', text: question }] }],
  };
  const answer = await anthropic.messages.create(given);
  assert.equal(answer.content[0].text, 'A window seat.');
  const content = [image, { type: 'text', text: block.text }, { type: 'text', text: question }];
  assert.deepEqual(stub.last().json, { ...given, messages: [{ role: 'user', content }] });
});

test('anthropic: a stream', async () => {
  const stream = anthropic.messages.stream({ model: 'stub', max_tokens: 64, messages: [{ role: 'user', content: question }] });
  assert.equal(await stream.finalText(), 'A window seat.');
  assert.equal(stub.last().json.messages[0].content, block.text + question);
});

test('nothing went wrong on the way', () => assert.deepEqual(faults, []));

test('without a scope nothing is attached', async () => {
  const anonymous = new OpenAI({ apiKey: 'k', baseURL: 'http://proxy.example/v1', fetch, maxRetries: 0, defaultHeaders: { authorization: null } });
  await anonymous.chat.completions.create({ model: 'stub', messages: [{ role: 'user', content: question }] });
  assert.equal(stub.last().json.messages[0].content, question);
});
