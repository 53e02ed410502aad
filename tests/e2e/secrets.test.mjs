// SPDX-License-Identifier: Apache-2.0
// What must not be in a receipt or in a log, and that the scans find it when it is there.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { ended, qp, receiptOf, start, temporaryFolder } from './lib/qp.mjs';
import { registry } from './lib/registry.mjs';

// Everything that a run leaves: the receipt, the log as it is printed, the log's bytes.
function remains(out) {
  const log = path.join(out, 'run.qplog');
  return [
    fs.readFileSync(path.join(out, 'receipt.json'), 'latin1'),
    qp(['log', log]).stdout,
    zlib.gunzipSync(fs.readFileSync(log)).toString('latin1'),
  ];
}

test('no token of the npm configuration and no value of the environment is in receipt or log', async (t) => {
  const token = 'npm_qpSecretsTest0123456789abcdefABCDEF00';
  const password = Buffer.from('qp-e2e-password-that-is-unique').toString('base64');
  const value = 'qp-e2e-environment-value-that-is-unique';
  const reg = await registry(t, [{ manifest: { name: 'root', version: '1.0.0', scripts: { postinstall: 'env; cat ~/.npmrc /proc/self/environ; exit 0' } } }], { token });
  const { host } = new URL(reg.url);
  const home = temporaryFolder(t);
  const config = path.join(home, 'user-npmrc');
  fs.writeFileSync(config, `registry=${reg.url}\n//${host}/:_authToken=${token}\n//other.example/:_password=${password}\n`, { mode: 0o600 });
  const out = path.join(temporaryFolder(t), 'out');
  const child = start(['run', '--out', out, 'root'], {
    env: { PATH: process.env.PATH, HOME: home, NPM_CONFIG_USERCONFIG: config, QP_E2E_VALUE: value, MY_API_KEY: value },
  });
  const result = await ended(child);
  assert.ok(reg.asked.some((name) => name.endsWith('.tgz')), result.stderr);
  for (const text of [...remains(out), result.stderr]) {
    assert.ok(text.length > 0);
    for (const secret of [token, password, value]) assert.ok(!text.includes(secret), secret);
  }
  // The script did look, and what it found is of the sandbox's making.
  const receipt = JSON.parse(fs.readFileSync(path.join(out, 'receipt.json'), 'utf8'));
  assert.match(receipt.logs.sandboxOutput, /HOME=\/home\//);
});

test('a clean run passes every scan', (t) => {
  const { receipt } = receiptOf(t, ['exec', '--', 'true']);
  assert.deepEqual(receipt.secretScan.receipt, { pass: true, hits: [] });
  assert.deepEqual(receipt.secretScan.log, { pass: true, hits: [] });
  assert.equal(receipt.secretScan.sandbox.pass, true);
});

test('a secret that a command prints is found in the receipt and in the log, and not repeated', (t) => {
  const secret = `ghp_${'Ab1'.repeat(12)}`;
  const { receipt, log } = receiptOf(t, ['exec', '--', 'echo', secret]);
  const { receipt: inReceipt, log: inLog } = receipt.secretScan;
  assert.equal(inReceipt.pass, false);
  assert.ok(inReceipt.hits.some((hit) => hit.pointer === '/logs/sandboxOutput' && hit.pattern === 'github-token'));
  assert.equal(inLog.pass, false);
  assert.ok(!JSON.stringify(receipt.secretScan).includes(secret));
  // Where it says: those records, and no other ones.
  const records = qp(['log', log]).stdout.trim().split('\n').map((line) => JSON.parse(line));
  const holding = records.filter((record) => JSON.stringify(record).includes(secret));
  assert.ok(holding.some((record) => record.type === 'preamble') && holding.some((record) => record.type === 'output') &&
    holding.some((record) => record.type === 'event'));
  assert.deepEqual(inLog.hits.map((hit) => [hit.record, hit.type]), holding.map((record) => [record.n, record.type]));
});

test('a secret that is in the log alone is found too', (t) => {
  const secret = `npm_${'Zz9'.repeat(12)}`;
  const folder = temporaryFolder(t);
  fs.writeFileSync(path.join(folder, 'script'), `{ read x < /usr/share/${secret}; } 2> /dev/null; exit 0\n`);
  const { receipt, bytes } = receiptOf(t, ['exec', '--in', folder, '--', 'sh', 'script']);
  assert.ok(!bytes.includes(secret));
  assert.equal(receipt.secretScan.receipt.pass, true);
  assert.equal(receipt.secretScan.log.pass, false);
  const { hits } = receipt.secretScan.log;
  assert.ok(hits.length > 0 && hits.every((hit) => hit.type === 'event' && hit.pattern === 'npm-token'), JSON.stringify(hits));
});
