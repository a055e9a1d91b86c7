// Serves the playground on this machine, or writes it down as a static site.
//
//   node www/playground/serve.mjs [--port 4180]
//   node www/playground/serve.mjs --out DIR
import { createServer } from 'node:http';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' };
/** Nothing is fetched from elsewhere, and nothing typed or opened can leave. */
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'";

/** The sample notes and the prompts that go with them. */
export function samples() {
  const notes = readdirSync(join(root, 'www/notes'), { recursive: true }).filter((path) => path.endsWith('.md')).map((path) => path.replaceAll('\\', '/')).sort();
  const prompts = readFileSync(join(root, 'www/demo-prompts.jsonl'), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  return JSON.stringify({ now: '2025-12-01', prompts, notes: notes.map((path) => ({ path, text: readFileSync(join(root, 'www/notes', path), 'utf8') })) });
}

export function listen(port) {
  const server = createServer(({ url }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, 'http://x').pathname));
    const send = (type, body) => response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY, 'cache-control': 'no-cache' }).end(body);
    if (path === '/') return response.writeHead(302, { location: '/www/playground/' }).end();
    if (path === '/www/playground/samples.json') return send('application/json', samples());
    const file = join(root, path.endsWith('/') ? `${path}index.html` : path);
    const served = /^[/\\](pkg|www[/\\]playground)[/\\]/.test(path) && existsSync(file);
    if (!served) return response.writeHead(404).end('not found');
    send(TYPES[extname(file)] ?? 'application/octet-stream', readFileSync(file));
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '4180' }, out: { type: 'string' } } });
  if (!existsSync(join(root, 'pkg/wasm/foreword_bg.wasm'))) throw new Error('the module is missing: run cargo xtask build');
  if (values.out) {
    const playground = join(values.out, 'www/playground');
    mkdirSync(playground, { recursive: true });
    for (const part of ['pkg', 'www/playground']) cpSync(join(root, part), join(values.out, part), { recursive: true });
    writeFileSync(join(playground, 'samples.json'), samples());
    writeFileSync(join(values.out, 'index.html'), '<!doctype html><meta http-equiv="refresh" content="0; url=./www/playground/">\n');
    console.log(`written to ${values.out}`);
  } else {
    const { port } = (await listen(Number(values.port))).address();
    console.log(`The playground: http://localhost:${port}/  (Ctrl+C ends it)`);
  }
}
