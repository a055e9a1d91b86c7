// The playground page, served as it is for a visitor, under its own content security policy.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { browse, folder, open, put } from './lab.mjs';
import { listen, samples } from '../../../www/playground/serve.mjs';

const server = await listen(0);
after(() => (server.closeAllConnections(), server.close()));
const url = `http://localhost:${server.address().port}/`;
const browser = await browse('chrome');
const text = (page, selector) => page.$eval(selector, ({ textContent }) => textContent);

/** Types a prompt and waits until what is shown is the answer to it. */
async function ask(page, prompt) {
  await page.$eval('#prompt', (box, prompt) => {
    box.value = prompt;
    box.dispatchEvent(new Event('input'));
  }, prompt);
  await page.waitForFunction((prompt) => document.querySelector('pre .prompt')?.textContent === prompt && !document.querySelector('.answer.busy'), {}, prompt);
}

test('it opens with the sample notes, and every prompt of theirs comes out as it should', async () => {
  const page = await open(browser, url);
  await page.waitForSelector('.verdict');
  for (const { text: prompt, expect } of JSON.parse(samples()).prompts) {
    await ask(page, prompt);
    assert.equal(await text(page, '.verdict strong'), expect.retrieve ? 'Memory helps' : 'No memory needed', prompt);
    const block = await text(page, 'pre');
    for (const record of expect.records) assert.ok(block.includes(`id="${record}`), `${prompt}: ${record}`);
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('plan, providers, evidence with its components, and budgets are shown', async () => {
  const page = await open(browser, url);
  await page.waitForSelector('.verdict');
  await page.click('#crm');
  await page.waitForFunction(() => /crm/.test(document.getElementById('ask').textContent));
  assert.match(await text(page, '#plan'), /exact title “Billing rewrite”/);
  assert.match(await text(page, '#ask'), /memory.*calendar.*timed out.*failed/s);
  assert.match(await text(page, '#rank'), /lexical 0\.\d+.*semantic 0\.\d+/s);
  await page.$eval('#recall-budget', (slider) => {
    slider.value = 512;
    slider.dispatchEvent(new Event('input'));
  });
  await page.waitForFunction(() => /of 512 bytes/.test(document.getElementById('write').textContent));
  assert.match(await text(page, '#write'), /more did not fit/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('what it is taught it knows at once, and it reads a visitor’s own files', async () => {
  const page = await open(browser, url);
  await page.waitForSelector('.verdict');
  await page.type('#lesson', 'The spare keys of the workshop hang behind the radio.');
  await page.click('#teach button');
  await page.waitForFunction(() => /Remembered/.test(document.getElementById('taught').textContent));
  await ask(page, 'Where are the spare keys of the workshop?');
  assert.match(await text(page, '#rank'), /behind the radio/);
  const dir = await folder();
  await put(dir, { 'kiln.md': '# Kiln\n\nThe kiln reaches 1240 degrees at cone six. <img src=x onerror="document.title = 1">', 'more.jsonl': '{"id":"glaze","statement":"The celadon glaze needs a slow cooling."}\nnot json\n' });
  await (await page.$('#files')).uploadFile(join(dir, 'kiln.md'), join(dir, 'more.jsonl'));
  await page.waitForFunction(() => /1 skipped/.test(document.getElementById('notes-hint').textContent));
  await ask(page, 'How hot does the kiln get at cone six?');
  assert.match(await text(page, '#rank'), /1240 degrees/);
  await ask(page, 'Does the celadon glaze need slow cooling?');
  assert.match(await text(page, '#rank'), /celadon/);
  assert.equal(await page.title(), 'foreword: playground', 'stored text is never markup');
  assert.deepEqual(page.faults, []);
  await page.close();
});
