// The example extension, loaded unpacked in Chromium, with no permission but those in its manifest: its action is clicked, its service worker killed.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { browse, folder, put, root, serve } from './lab.mjs';
import { pack } from '../../../www/extension/pack.mjs';

const dir = join(await folder(), 'extension');
pack(dir);
const pages = await folder();
await put(pages, {
  'tides.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Tides at Brightlingsea</title><nav>Home About Contact</nav><article>
    <h1>Tides at Brightlingsea</h1><p>The harbour at Brightlingsea dries out two hours before low water at spring tides.</p>
    <p>Visitors moor on the detached pontoon; the water taxi runs until nine in the evening.</p></article>`,
  'write.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Mail</title><textarea autofocus>When does the harbour at Brightlingsea dry out?</textarea>`,
});
const origin = await serve({ '/': pages });
const browser = await browse('chrome', { pipe: true, enableExtensions: true });
const id = await browser.installExtension(dir);
const extension = (await browser.extensions()).get(id);

/** Clicks the extension's button on a page, as a user does: it is what grants access to that page. */
async function popup(page) {
  await page.bringToFront();
  await extension.triggerAction(page);
  const target = await browser.waitForTarget((target) => target.url() === `chrome-extension://${id}/popup.html`, { timeout: 10_000 });
  const opened = await target.asPage();
  await opened.waitForFunction(() => document.getElementById('count').textContent !== '');
  return opened;
}

async function visit(name) {
  const page = await browser.newPage();
  await page.goto(`${origin}/${name}`);
  return page;
}

async function said(popup, text) {
  await popup.waitForFunction(() => document.getElementById('said').textContent !== '', { timeout: 10_000 });
  const words = await popup.$eval('#said', ({ textContent }) => textContent);
  assert.ok(words.includes(text), words);
}
const titles = (popup) => popup.$$eval('#list b', (all) => all.map(({ textContent }) => textContent));

async function kill() {
  const target = await browser.waitForTarget((target) => target.type() === 'service_worker' && target.url().includes(id), { timeout: 10_000 });
  const gone = new Promise((resolve) => browser.on('targetdestroyed', (destroyed) => destroyed === target && resolve()));
  await (await target.worker()).close();
  await gone;
}

test('it asks for no more than it needs', async () => {
  const manifest = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8'));
  assert.deepEqual(manifest.permissions, ['activeTab', 'contextMenus', 'scripting']);
  for (const broad of ['host_permissions', 'optional_host_permissions', 'content_scripts', 'externally_connectable']) assert.equal(manifest[broad], undefined);
  for (const file of ['background.js', 'memory.js', 'page.js', 'popup.js']) assert.doesNotMatch(await readFile(join(root, 'www/extension', file), 'utf8'), /\bfetch\(|XMLHttpRequest|https?:\/\//, `${file} sends nothing`);
});

test('a page is remembered, and still known after the service worker was killed', async () => {
  const page = await visit('tides.html');
  let shown = await popup(page);
  await shown.click('#page');
  await said(shown, 'remembered');
  assert.deepEqual(await titles(shown), ['Tides at Brightlingsea']);
  await kill();
  await shown.reload();
  await shown.waitForSelector('#list b');
  assert.deepEqual(await titles(shown), ['Tides at Brightlingsea'], 'the worker woke and read it from disk');
  await shown.type('#query', 'water taxi in the evening');
  await shown.waitForFunction(() => /water taxi/.test(document.getElementById('list').textContent));
  // Again: the same page is not there twice.
  const count = await shown.$eval('#count', ({ textContent }) => textContent);
  await shown.click('#page');
  await said(shown, 'remembered');
  assert.equal(await shown.$eval('#count', ({ textContent }) => textContent), count);
  await shown.close();
  await page.close();
});

test('what was read is shown beside the text box and put before the text when the user says so', async () => {
  await kill();
  const page = await visit('write.html');
  const shown = await popup(page);
  await shown.click('#recall');
  await said(shown, 'Shown in the page');
  await shown.close();
  const found = await page.waitForSelector('#foreword-found');
  assert.match(await found.evaluate(({ shadowRoot }) => shadowRoot.textContent), /dries out two hours before low water/);
  await found.evaluate(({ shadowRoot }) => shadowRoot.querySelector('button.main').click());
  const text = await page.$eval('textarea', ({ value }) => value);
  assert.match(text, /^<memory-\w+>[\s\S]*dries out two hours[\s\S]*<\/memory-\w+>\s+When does the harbour at Brightlingsea dry out\?$/);
  await page.close();
});

test('what is forgotten stays forgotten, worker or no worker', async () => {
  const page = await visit('tides.html');
  const shown = await popup(page);
  await shown.waitForSelector('#list b');
  await shown.click('#list button');
  await shown.waitForSelector('#list .empty');
  await kill();
  await shown.reload();
  await shown.waitForSelector('#list .empty');
  assert.equal(await shown.$eval('#count', ({ textContent }) => textContent), '0 passages');
  await shown.close();
  await page.close();
});

test('a long journal is folded into the snapshot, and a killed worker finds all of it', async () => {
  const worker = async () => (await browser.waitForTarget((target) => target.type() === 'service_worker' && target.url().includes(id))).worker();
  const page = await visit('tides.html');
  const shown = await popup(page);
  // Through the popup's own channel would take a page for each: the worker's own module is asked instead.
  await shown.evaluate(async () => {
    const { change } = await import('./memory.js');
    for (let n = 0; n < 230; n++) await change({ remember: [{ id: `note-${n}`, title: `Note ${n}`, statement: `The buoy number ${n} is painted in colour ${n * 7}.` }] });
  });
  await (await worker()).evaluate(() => 1);
  await kill();
  await shown.reload();
  await shown.waitForFunction(() => document.getElementById('count').textContent === '230 passages');
  await shown.type('#query', 'buoy number 17');
  await shown.waitForFunction(() => /buoy number 17 is/.test(document.getElementById('list').textContent));
  await shown.click('#clear');
  await shown.click('#clear');
  await shown.waitForFunction(() => document.getElementById('count').textContent === '0 passages');
  await shown.close();
  await page.close();
});
