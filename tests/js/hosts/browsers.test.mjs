// Pages and workers, without a bundler.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browse, open, printed, project, put, same, serve } from './lab.mjs';

const { dir } = await project();
const work = `
import * as foreword from './node_modules/foreword/entry.default.js';
import { given } from './given.js';
import { vector } from './vector.mjs';
`;
await put(dir, {
  'page.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">${work} globalThis.printed = await vector(foreword, given);</script>`,
  'worker.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
    const worker = new Worker('./worker.js', { type: 'module' });
    worker.onmessage = ({ data }) => (globalThis.printed = data);
    worker.onerror = ({ message }) => console.error(message);
  </script>`,
  'middleware.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module">
    import { Foreword } from './node_modules/foreword/entry.default.js';
    import { searchHandler, withForeword } from './node_modules/foreword/workers/index.js';
    const memory = await Foreword.empty();
    memory.remember({ id: 'seat', statement: 'On trains I like a window seat in the quiet coach.' });
    const post = (path, body) => new Request(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    const ask = (options) => withForeword({ memory, scope: () => ({}), forward: async (request) => new Response(request.method + ' ' + request.url + ' ' + (await request.text())), ...options });
    const chat = JSON.stringify({ messages: [{ role: 'user', content: 'Which train seat do I like?' }] });
    const said = [];
    for (const options of [{}, { upstream: 'https://model.example/api' }, { maxBytes: 8 }]) {
      for (const [path, body] of [['/v1/chat/completions', chat], ['/v1/chat/completions', ' []'], ['/v1/embeddings', chat]]) said.push(await (await ask(options)(post(path, body))).text());
      said.push(await (await ask(options)(new Request('/v1/models'))).text());
    }
    const found = await (await searchHandler({ memory, scope: () => ({}) })(post('/search', '{"query":"train seat"}'))).json();
    globalThis.printed = JSON.stringify({ said, found: found.results.map(({ id }) => id) });
  </script>`,
  'worker.js': `${work} postMessage(await vector(foreword, given));`,
});
const origin = await serve({ '/': dir });

for (const which of ['chrome', 'firefox']) {
  test(`${which}: a page, and a worker`, { skip: which === 'firefox' && process.env.FOREWORD_FIREFOX === '' && 'FIREFOX WAS NOT TO BE HAD ON THIS MACHINE' }, async () => {
    const browser = await browse(which);
    await same(`${which}, page`, await printed(await open(browser, `${origin}/page.html`)));
    await same(`${which}, worker`, await printed(await open(browser, `${origin}/worker.html`)));
    const { said, found } = JSON.parse(await printed(await open(browser, `${origin}/middleware.html`)));
    assert.deepEqual(found, ['seat']);
    const chat = JSON.stringify({ messages: [{ role: 'user', content: 'Which train seat do I like?' }] });
    const base = [origin, 'https://model.example/api', origin];
    base.forEach((base, n) => {
      const [edited, ...rest] = said.slice(4 * n, 4 * n + 4);
      if (n < 2) assert.match(edited, /window seat in the quiet coach[^]*Which train seat do I like\?"}]}$/);
      assert.ok(edited.startsWith(`POST ${base}/v1/chat/completions {"messages":`));
      assert.deepEqual(rest, [`POST ${base}/v1/chat/completions  []`, `POST ${base}/v1/embeddings ${chat}`, `GET ${base}/v1/models `]);
      if (n === 2) assert.ok(edited.endsWith(chat), 'too long to be read');
    });
  });
}
