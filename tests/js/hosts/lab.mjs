// The package as a user gets it: packed, installed from the tarball into an empty project, and what every host is asked there.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const run = promisify(execFile);
export const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
export const root = path('../../../');
export const bin = (name) => path(`./node_modules/.bin/${name}`);
/** The machine's own Node, whichever runs this. */
export const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** A folder of this test's own, taken away afterwards. */
export async function folder() {
  const made = await mkdtemp(join(tmpdir(), 'foreword-'));
  after(() => rm(made, { recursive: true, force: true, maxRetries: 5 }));
  return made;
}

/** An empty project into which the tarball is installed. */
export async function project() {
  const dir = await folder();
  const { stdout } = await run(npm, ['pack', '--json', '--pack-destination', dir], { cwd: join(root, 'pkg') });
  const [{ filename, files, size }] = JSON.parse(stdout);
  await writeFile(join(dir, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  await run(npm, ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', join(dir, filename)], { cwd: dir });
  await cp(path('./vector.mjs'), join(dir, 'vector.mjs'));
  await writeFile(join(dir, 'given.js'), `export const given = ${JSON.stringify(await given())};\n`);
  return { dir, tarball: join(dir, filename), files: files.map((file) => file.path), size };
}

/** The sample notes and their prompts. */
export async function given() {
  const notes = join(root, 'www/notes');
  const paths = (await readdir(notes, { recursive: true })).filter((file) => file.endsWith('.md')).map((file) => file.replaceAll('\\', '/'));
  const texts = paths.sort().map(async (file) => ({ path: file, text: await readFile(join(notes, file), 'utf8') }));
  const lines = (await readFile(join(root, 'www/demo-prompts.jsonl'), 'utf8')).split('\n').filter(Boolean);
  return { notes: await Promise.all(texts), prompts: lines.map((line) => JSON.parse(line).text), now: '2025-12-01' };
}

let reference;
/** What this very Node makes of it. */
export async function expected() {
  reference ??= (async () => {
    const [package_, { vector }] = [await import('../../../pkg/entry.node.js'), await import('./vector.mjs')];
    return vector(package_, await given());
  })();
  return reference;
}

export async function same(host, printed) {
  const [wanted, got] = [JSON.parse(await expected()), JSON.parse(printed)];
  assert.deepEqual(got, wanted, host);
  assert.equal(printed, await expected(), `${host}: to the byte`);
  assert.ok(wanted.results.some(({ evidence }) => evidence.length > 0));
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.jsonl': 'text/plain', '.md': 'text/plain', '.svg': 'image/svg+xml' };

/** Serves folders on this machine: `{ '/': dir }`, the longest prefix first. */
export async function serve(folders) {
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const server = createServer(async ({ url }, response) => {
    const wanted = decodeURIComponent(new URL(url, 'http://x').pathname);
    const prefix = prefixes.find((prefix) => wanted.startsWith(prefix));
    try {
      const rest = normalize(wanted.slice(prefix.length)).replace(/^[/.\\]+/, '') || 'index.html';
      const bytes = await readFile(join(folders[prefix], rest));
      response.writeHead(200, { 'content-type': TYPES[extname(rest)] ?? 'application/octet-stream' }).end(bytes);
    } catch {
      response.writeHead(404).end('not found');
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => (server.closeAllConnections(), server.close()));
  return `http://localhost:${server.address().port}`;
}

/** Chromium or Firefox, headless, with an empty profile; the machine's own, never one that is fetched here. */
export async function browse(which, options = {}) {
  const { default: puppeteer } = await import('puppeteer-core');
  const executablePath = process.env[which === 'firefox' ? 'FOREWORD_FIREFOX' : 'FOREWORD_CHROME'];
  assert.ok(executablePath, `no ${which}: run this through \`cargo xtask test hosts\`, which finds or installs it`);
  const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];
  const browser = await puppeteer.launch({ browser: which, executablePath, headless: true, args: which === 'firefox' ? [] : quiet, ...options });
  after(() => browser.close());
  return browser;
}

/** Opens a page and fails on whatever it reports. */
export async function open(browser, url) {
  const page = await browser.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(`${error?.stack ?? error}`));
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  await page.goto(url);
  return page;
}

/** What a page's program leaves in `globalThis.printed`. */
export async function printed(page, timeout = 60_000) {
  await page.waitForFunction(() => globalThis.printed !== undefined, { timeout, polling: 100 }).catch((error) => {
    throw new Error(`${error.message}; the page says: ${page.faults.join('\n')}`);
  });
  assert.deepEqual(page.faults, []);
  return page.evaluate(() => globalThis.printed);
}

export async function put(dir, files) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(dir, name, '..'), { recursive: true });
    await writeFile(join(dir, name), text);
  }
}
