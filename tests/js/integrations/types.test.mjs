// The types, among those of the SDKs that they are used with.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'node:test';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

test('what the SDKs take is what the package gives', async () => {
  const args = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--module', 'nodenext', '--types', '', here('use.ts')];
  await promisify(execFile)(process.execPath, [here('node_modules/typescript/bin/tsc'), ...args]).catch((error) => assert.fail(`${error.stdout}${error.stderr}`));
});
