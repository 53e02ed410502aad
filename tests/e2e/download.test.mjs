// SPDX-License-Identifier: Apache-2.0
// Fetching through the container, from a registry on loopback, with the user's npm
// configuration.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { ended, qp, qpProgram, receiptOf, start, temporaryFolder, traces, waitFor } from './lib/qp.mjs';
import { registry, tarball } from './lib/registry.mjs';

const one = (name, more = {}, rest = {}) => ({ manifest: { name, version: '1.0.0', ...more }, ...rest });

// An environment whose npm configuration is @npmrc and nothing else.
function configured(t, npmrc) {
  const home = temporaryFolder(t);
  fs.writeFileSync(path.join(home, '.npmrc'), npmrc, { mode: 0o600 });
  return { env: { PATH: process.env.PATH, HOME: home, npm_config_globalconfig: path.join(home, 'none') } };
}

const asked = (reg) => `registry=${reg.url}\n`;
const fetchFolders = () => fs.readdirSync('/tmp').filter((name) => /^qp-.*-fetch/.test(name));

// The server is in this process: qp must not block it.
async function run(t, args, options) {
  const out = path.join(temporaryFolder(t), 'out');
  const child = start(['run', '--out', out, ...args], options);
  const result = await ended(child);
  const file = path.join(out, 'receipt.json');
  return { ...result, out, receipt: fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : null };
}

test('the user\'s token opens the registry and is nowhere else', async (t) => {
  const token = 'npm_qpE2eTokenThatIsUnique0123456789';
  const spy = `const fs = require('node:fs');
    if (JSON.stringify(process.env).includes('${token.slice(0, 12)}')) throw new Error('in the environment');
    for (const folder of ['/opt/conf', '/opt/work', '/in/.fetch', '/work/.fetch'])
      if (fs.existsSync(folder)) throw new Error(folder);`;
  const reg = await registry(t, [one('root', { dependencies: { a: '1' } }, { files: { 'index.js': spy } }), one('a')], { token });
  const { host } = new URL(reg.url);
  const options = configured(t, `${asked(reg)}//${host}/:_authToken=\${QP_E2E_TOKEN}\n`);
  options.env.QP_E2E_TOKEN = token;
  const result = await run(t, ['root@1.0.0'], options);
  assert.equal(result.code, 0, result.stderr);
  assert.equal(result.receipt.harness.loaded, true);
  assert.equal(result.receipt.download.inventory.packageCount, 2);
  const log = spawnSync(qpProgram, ['log', path.join(result.out, 'run.qplog')], { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(log.status, 0);
  assert.ok(!log.stdout.includes(token) && !JSON.stringify(result.receipt).includes(token) && !result.stderr.includes(token));
  assert.deepEqual(fetchFolders(), []);
});

test('without the token the registry asks for a login, and so does qp', async (t) => {
  const reg = await registry(t, [one('root')], { token: 'another' });
  const result = await run(t, ['root'], configured(t, asked(reg)));
  assert.equal(result.code, 4);
  assert.match(result.stderr, /npm login/);
  assert.equal(result.receipt, null);
});

test('the size that is reported is the size of the files', async (t) => {
  const files = { 'index.js': 'module.exports = 1;\n', 'data/big.bin': 'x'.repeat(10007) };
  const from = path.join(temporaryFolder(t), 'x.tgz');
  const manifest = '{"name":"x","version":"1.0.0","bin":{"tool":"index.js"}}';
  fs.writeFileSync(from, tarball({ 'package.json': manifest, ...files }));
  const { receipt } = receiptOf(t, ['run', from]);
  assert.equal(receipt.download.inventory.unpackedBytes, manifest.length + files['index.js'].length + 10007);
  assert.equal(receipt.package.source, 'tarball');
});

const failures = {
  'an unknown package': [['nosuch'], /no such package.*nosuch/],
  'an unknown version': [['root@2.0.0'], /no version .*root@2\.0\.0/],
  'bytes that are not those of the integrity': [['corrupt'], /corrupt/],
  'more packages than allowed': [['--download-packages', '1', 'deep'], /more than 1 packages.*--download-packages/],
  'more bytes than allowed': [['--download-bytes', '1M', 'heavy'], /bigger than 1048576 bytes.*--download-bytes/],
};
for (const [what, [args, says]] of Object.entries(failures)) {
  test(`${what}: exit 4, the reason, and nothing left`, async (t) => {
    const reg = await registry(t, [
      one('root'), one('corrupt', {}, { corrupt: true }), one('deep', { dependencies: { root: '1' } }),
      one('heavy', {}, { files: Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`f${i}`, 'x'.repeat(1 << 17)])) }),
    ]);
    const result = await run(t, args, configured(t, asked(reg)));
    assert.equal(result.code, 4, result.stderr);
    assert.match(result.stderr, says);
    assert.equal(result.receipt, null);
    assert.deepEqual(fetchFolders(), []);
    assert.deepEqual(traces(), []);
  });
}

test('a registry that never answers ends with the time limit', async (t) => {
  const reg = await registry(t, [], { hangs: true });
  const begin = Date.now();
  const result = await run(t, ['--download-seconds', '2', 'root'], configured(t, asked(reg)));
  assert.equal(result.code, 4);
  assert.match(result.stderr, /longer than 2 s.*--download-seconds/);
  assert.ok(Date.now() - begin < 15_000);
  assert.deepEqual(fetchFolders(), []);
  assert.deepEqual(traces(), []);
});

for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]]) {
  test(`${signal} while fetching: exit ${code} and nothing left, the token's copy least of all`, async (t) => {
    const reg = await registry(t, [], { hangs: true });
    const child = start(['run', '--out', path.join(temporaryFolder(t), 'out'), 'root'], configured(t, asked(reg)));
    const result = ended(child);
    await waitFor(() => reg.asked.length > 0, 'the first request');
    child.kill(signal);
    assert.equal((await result).code, code);
    assert.deepEqual(fetchFolders(), []);
    assert.deepEqual(traces(), []);
  });
}

test('a crash while fetching leaves no copy of the token', async (t) => {
  const reg = await registry(t, [], { hangs: true });
  const child = start(['run', '--out', path.join(temporaryFolder(t), 'out'), 'root'], configured(t, asked(reg)));
  const result = ended(child);
  await waitFor(() => reg.asked.length > 0, 'the first request');
  assert.equal(fetchFolders().length, 1);
  child.kill('SIGKILL');
  await result;
  await waitFor(() => fetchFolders().length === 0 && traces().length === 0, 'the clean-up after the crash');
});

test('a refused package is judged by what was refused, and none of it is fetched', async (t) => {
  const reg = await registry(t, [one('root', { dependencies: { x: 'git+https://git.example/x.git' } })]);
  const result = await run(t, ['root'], configured(t, asked(reg)));
  assert.equal(result.code, 10, result.stderr);
  assert.deepEqual(result.receipt.download.precheck.nonRegistry,
    [{ name: 'x', spec: 'git+https://git.example/x.git', from: 'root@1.0.0' }]);
  assert.deepEqual(reg.asked, ['root']);
});

for (const file of ['package.json', 'index.js']) {
  test(`a folder whose ${file} others cannot read is an error that says so`, (t) => {
    const folder = temporaryFolder(t);
    fs.chmodSync(folder, 0o755);
    fs.writeFileSync(path.join(folder, 'package.json'), '{"name":"x","version":"1.0.0"}');
    fs.writeFileSync(path.join(folder, 'index.js'), 'module.exports = 1;');
    fs.chmodSync(path.join(folder, file), 0o600);
    const result = qp(['run', '--out', path.join(temporaryFolder(t), 'out'), folder]);
    assert.equal(result.code, 4, result.stderr);
    assert.match(result.stderr, /chmod -R a\+rX/);
  });
}
