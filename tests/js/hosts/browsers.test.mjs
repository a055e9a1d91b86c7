// Pages and workers, without a bundler.
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
  'worker.js': `${work} postMessage(await vector(foreword, given));`,
});
const origin = await serve({ '/': dir });

for (const which of ['chrome', 'firefox']) {
  test(`${which}: a page, and a worker`, { skip: which === 'firefox' && process.env.FOREWORD_FIREFOX === '' && 'FIREFOX WAS NOT TO BE HAD ON THIS MACHINE' }, async () => {
    const browser = await browse(which);
    await same(`${which}, page`, await printed(await open(browser, `${origin}/page.html`)));
    await same(`${which}, worker`, await printed(await open(browser, `${origin}/worker.html`)));
  });
}
