// SPDX-License-Identifier: Apache-2.0
// Many runs that write one bundle at the same time.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ended, start, temporaryFolder } from './lib/qp.mjs';
import { keys, linesOf, opened, sha256, verify } from './lib/signed.mjs';

const RUNS = 64;

test(`${RUNS} concurrent runs append to one bundle, and every one of them verifies`, async (t) => {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  const names = Array.from({ length: RUNS }, (_, i) => `run-${i}`);
  // The machine is busy with the others: a run may take longer than its usual minute.
  const results = await Promise.all(names.map((name) =>
    ended(start(['exec', '--quiet', '--seconds', '600', '--out', path.join(folder, name), '--key', pair.key, '--', 'true']))));
  for (const result of results) assert.equal(result.stderr, '');
  const bundle = path.join(folder, 'bundle.jsonl');
  const lines = linesOf(bundle);
  assert.equal(lines.length, RUNS);
  lines.forEach((line, i) => {
    assert.equal(opened(JSON.parse(line)).previous, i ? sha256(lines[i - 1]) : '0'.repeat(64));
  });
  const nonces = new Set(lines.map((line) => opened(JSON.parse(line)).sandbox.nonce));
  assert.equal(nonces.size, RUNS);
  for (const name of names) {
    const out = path.join(folder, name);
    const result = verify({ dsse: path.join(out, 'receipt.dsse.json'), log: path.join(out, 'run.qplog'), bundle }, pair);
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, new RegExp(`^bundle +${RUNS} lines`, 'm'));
  }
  assert.equal(fs.readdirSync(folder).length, RUNS + 3);
});
