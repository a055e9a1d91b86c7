// The AI SDK's own functions, of each of its versions, around the middleware; the model behind it records what it was given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ai7 from 'ai';
import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import { z } from 'zod';
import { foreword } from '../../../pkg/ai-sdk/index.js';
import { memory, now, question } from './lab.mjs';

const asked = await memory();
const { block } = await asked.recall(question, { now });
const counts = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A model of a version, which answers with the contents given, one a call. */
function recorder(version, ...contents) {
  const calls = [];
  const flat = version === 'v2';
  const usage = flat ? { inputTokens: 1, outputTokens: 1, totalTokens: 2 } : counts;
  const next = () => contents[calls.length - 1] ?? [{ type: 'text', text: 'A window seat.' }];
  const reason = (content) => {
    const unified = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
    return flat ? unified : { unified, raw: unified };
  };
  const model = {
    specificationVersion: version,
    provider: 'stub',
    modelId: 'stub',
    supportedUrls: {},
    async doGenerate(params) {
      calls.push(params);
      const content = next();
      return { content, finishReason: reason(content), usage, warnings: [] };
    },
    async doStream(params) {
      calls.push(params);
      const parts = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'A window ' },
        { type: 'text-delta', id: '1', delta: 'seat.' },
        { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: reason([]), usage },
      ];
      return { stream: new ReadableStream({ start: (out) => (parts.forEach((part) => out.enqueue(part)), out.close()) }) };
    },
  };
  return { model, calls, last: () => calls.at(-1).prompt };
}

const texts = (message) => message.content.map(({ text }) => text);
const wrapped = ({ model }, options) => ai7.wrapLanguageModel({ model, middleware: foreword({ memory: asked, recall: { now }, scope: () => ({}), ...options }) });

for (const [name, ai, version, specificationVersion] of [['5', ai5, 'v2', undefined], ['6', ai6, 'v3', 'v3'], ['7', ai7, 'v4', undefined]]) {
  test(`version ${name}: the last user message gets the foreword, and the answer comes back untouched, streamed or whole`, async () => {
    const stub = recorder(version);
    const model = ai.wrapLanguageModel({ model: stub.model, middleware: foreword({ memory: asked, recall: { now }, scope: () => ({}), specificationVersion }) });
    const messages = [{ role: 'user', content: 'Good morning' }, { role: 'assistant', content: 'Good morning.' }, { role: 'user', content: question }];
    const { text } = await ai.generateText({ model, messages });
    assert.equal(text, 'A window seat.');
    assert.ok(block.recall.includes('window seat'));
    assert.deepEqual(stub.last().map(texts), [['Good morning'], ['Good morning.'], [block.text, question]]);
    const streamed = ai.streamText({ model, messages });
    assert.equal(await streamed.text, 'A window seat.');
    assert.deepEqual(texts(stub.last().at(-1)), [block.text, question]);
    assert.equal(stub.calls.length, 2);
  });
}

test('files, options and tool definitions survive; the block stands before the last text', async () => {
  const stub = recorder('v4');
  const content = [{ type: 'text', text: 'A plan of the coach:' }, { type: 'file', data: new Uint8Array([137, 80, 78, 71]), mediaType: 'image/png' }, { type: 'text', text: question, providerOptions: { stub: { cache: true } } }];
  const given = { messages: [{ role: 'user', content, providerOptions: { stub: { a: 1 } } }], temperature: 0.5, tools: { look: ai7.tool({ description: 'Looks', inputSchema: z.object({ at: z.string() }) }) } };
  await ai7.generateText({ ...given, model: stub.model });
  await ai7.generateText({ ...given, model: wrapped(stub) });
  const [plain, edited] = stub.calls;
  const [message] = edited.prompt;
  assert.equal(message.content.length, 4);
  assert.deepEqual(message.content[2], { type: 'text', text: block.text });
  message.content.splice(2, 1);
  const bare = ({ headers, abortSignal, ...rest }) => rest;
  assert.deepEqual(bare(edited), bare(plain));
});

test('each step of a call with tools gets the same block at the same place', async () => {
  const stub = recorder('v4', [{ type: 'tool-call', toolCallId: 't', toolName: 'look', input: '{}' }]);
  const tools = { look: ai7.tool({ description: 'Looks', inputSchema: z.object({}), execute: async () => 'a window' }) };
  await ai7.generateText({ model: wrapped(stub), prompt: question, tools, stopWhen: ai7.stepCountIs(3) });
  assert.equal(stub.calls.length, 2);
  for (const { prompt } of stub.calls) assert.deepEqual(texts(prompt[0]), [block.text, question]);
  assert.equal(stub.last().at(-1).role, 'tool');
});

test('on request behind the system text', async () => {
  const stub = recorder('v4');
  const model = wrapped(stub, { place: 'system' });
  await ai7.generateText({ model, system: 'Be brief.', prompt: question });
  assert.equal(stub.last()[0].content, `Be brief.\n\n${block.text}`);
  await ai7.generateText({ model, prompt: question });
  assert.deepEqual([stub.last()[0].role, stub.last()[0].content, texts(stub.last()[1])], ['system', block.text, [question]]);
});

test('whose memory it is says the host alone', async () => {
  const ask = 'When does Acme pay the Kiel harbour invoice?';
  for (const [tenant, knows] of [['acme', true], ['zed', false]]) {
    const stub = recorder('v4');
    await ai7.generateText({ model: wrapped(stub, { scope: () => ({ tenant }) }), prompt: ask, providerOptions: { foreword: { scope: { tenant: 'acme' } } } });
    assert.equal(JSON.stringify(stub.last()).includes('in March'), knows, tenant);
  }
});

test('whatever goes wrong with memory, the call goes on as it came', async () => {
  for (const [options, code] of [
    [{ scope: () => undefined }],
    [{ memory: () => undefined }],
    [{ scope: () => Promise.reject(Object.assign(new Error('no session'), { code: 'NO_SESSION' })) }, 'NO_SESSION'],
    [{ memory: () => new Promise(() => {}), timeoutMs: 5 }, 'TIMEOUT'],
  ]) {
    const faults = [];
    const stub = recorder('v4');
    await ai7.generateText({ model: wrapped(stub, { ...options, onError: (error) => faults.push(error.code) }), prompt: question });
    assert.deepEqual(stub.last().map(texts), [[question]]);
    assert.deepEqual(faults, code ? [code] : []);
  }
});

test('a prompt without words of a user is left alone', async () => {
  const stub = recorder('v4');
  let recalls = 0;
  const model = wrapped(stub, { onRecall: () => recalls++ });
  await ai7.generateText({ model, messages: [{ role: 'user', content: [{ type: 'file', data: new Uint8Array([137, 80, 78, 71]), mediaType: 'image/png' }] }] });
  assert.deepEqual([stub.last()[0].content.length, recalls], [1, 0]);
});

test('a wrong setting is refused at once', () => {
  for (const wrong of [{ memory: asked }, { memory: asked, scope: () => ({}), maxBytes: 3 }, { memory: asked, scope: () => ({}), other: 1 }, undefined]) {
    assert.throws(() => foreword(wrong), { code: 'INVALID_CONFIG' });
  }
});
