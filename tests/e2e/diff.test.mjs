// SPDX-License-Identifier: Apache-2.0
// qp diff: runs of one package are the same, what another does is named exactly.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

const seed = (name) => fileURLToPath(new URL(`../cases/receipts/seed-${name}.json`, import.meta.url));
const compared = (a, b) => {
  const run = qp(['diff', '--json', a, b]);
  assert.equal(run.stderr, '');
  return { ...run, diff: JSON.parse(run.stdout) };
};
const without = (entries, ...names) => entries.map((entry) => Object.fromEntries(
  Object.entries(entry).filter(([name]) => !names.includes(name))));

for (const fixture of ['quiet', 'netbenign', 'canary', 'thief']) {
  test(`two runs of ${fixture} compare as the same`, (t) => {
    const [a, b] = [1, 2].map(() => receiptOf(t, ['run', `fixture:${fixture}`]));
    assert.notEqual(a.receipt.nonce, b.receipt.nonce);
    const { code, diff } = compared(a.file, b.file);
    assert.equal(code, 0, JSON.stringify(diff, null, 1));
    assert.equal(diff.same, true);
    assert.match(qp(['diff', a.file, b.file]).stdout, /^B does what A does/m);
  });
}

test('a thief differs from a benign package by its read, its name, its POST and its rules', (t) => {
  const a = receiptOf(t, ['run', 'fixture:netbenign']);
  const b = receiptOf(t, ['run', 'fixture:thief']);
  const { code, diff } = compared(a.file, b.file);
  assert.equal(code, 10);
  assert.equal(diff.schema, 'qp-diff/1');
  assert.equal(diff.same, false);
  assert.deepEqual(diff.verdict, { a: 'review', b: 'do-not-install' });
  assert.equal(diff.status, null);
  assert.deepEqual(diff.completeness, []);
  const before = new Set(a.receipt.rulesFired.map((rule) => rule.id));
  const added = b.receipt.rulesFired.filter((rule) => !before.has(rule.id));
  assert.deepEqual(diff.rules.added.map(({ id, tier, text }) => ({ id, tier, text })),
    added.map(({ id, tier, text }) => ({ id, tier, text })));
  for (const id of ['b1', 'd']) assert.ok(added.some((rule) => rule.id === id), id);
  assert.deepEqual(diff.rules.removed, []);
  assert.deepEqual(without(diff.files.added, 'observationIds'), [
    { actor: 'package', kind: 'file-read', path: '~/.npmrc' },
  ]);
  assert.deepEqual(diff.files.removed, []);
  assert.deepEqual(diff.names.added.map((entry) => entry.name), ['collect.qp-fixture.example']);
  assert.deepEqual(diff.names.removed.map((entry) => entry.name), ['downloads.qp-fixture.example']);
  assert.deepEqual(without(diff.network.added, 'observationIds'), [{
    actor: 'package', kind: 'net-tcp', host: 'collect.qp-fixture.example', port: 80, proto: 'http',
    method: 'POST', url: '/', body: true, payload: true, decoys: { 'npm-token': true }, decoyEncodings: { plain: true },
  }]);
  assert.deepEqual(diff.processes.added.map((entry) => entry.argv), [['sh', '-c', 'node install.js'], ['node', 'install.js']]);
  assert.deepEqual(diff.processes.removed.map((entry) => entry.argv), [['sh', '-c', 'node check.js'], ['node', 'check.js']]);
  for (const section of ['packages', 'env', 'other']) assert.deepEqual(diff[section], { added: [], removed: [] });
  const read = b.receipt.observations.find((o) => o.kind === 'file-read');
  assert.deepEqual(diff.files.added[0].observationIds, [read.id]);

  const text = qp(['diff', a.file, b.file]);
  assert.equal(text.code, 10);
  assert.match(text.stdout, /^ {2}\+ read ~\/\.npmrc$/m);
  assert.match(text.stdout, /^ {2}\+ net-tcp collect\.qp-fixture\.example:80 http POST \/, data sent, with the value of npm-token$/m);
  assert.match(text.stdout, /^ {2}- net-tcp downloads\.qp-fixture\.example:80 http GET /m);
  assert.match(text.stdout, /^ {2}\+ d {2}do-not-install/m);
  assert.doesNotMatch(text.stdout, /\/home\//);

  const back = compared(b.file, a.file).diff;
  assert.deepEqual(back.network, { added: diff.network.removed, removed: diff.network.added });
});

test('names, times and ports that a run makes up are folded in a command too', (t) => {
  const script = 'd=$(mktemp -d /tmp/build-XXXXXX); echo x > $d/out; cat /proc/$PPID/environ; '
    + 'mkdir /opt/$(hostname); echo $$ > /tmp/pid.$$$$; touch ~/.bashrc; echo x > /tmp/log.$(date +%s%N)';
  const [a, b] = [1, 2].map(() => receiptOf(t, ['exec', '--', 'sh', '-c', script]));
  const { code, diff } = compared(a.file, b.file);
  assert.equal(code, 0, JSON.stringify(diff, null, 1));
});

test('the seeds compare with themselves, with each other, and with a receipt of ours', (t) => {
  assert.equal(compared(seed('fastify'), seed('fastify')).code, 0);
  const { code, diff } = compared(seed('netbenign'), seed('fastify'));
  assert.equal(code, 10);
  assert.deepEqual(diff.verdict, { a: 'review', b: 'install' });
  assert.deepEqual(without(diff.packages.added), [{ count: 48 }]);
  assert.deepEqual(diff.packages.removed, [{ count: 1 }, { installScript: 'node_modules/{package}' }]);

  const ours = receiptOf(t, ['run', 'fixture:netbenign']);
  const mixed = compared(seed('netbenign'), ours.file).diff;
  // The same package, another root: its programs lie elsewhere, all else is equal.
  for (const section of ['rules', 'packages', 'files', 'names', 'network', 'env', 'other']) {
    assert.deepEqual(mixed[section], { added: [], removed: [] }, section);
  }
  assert.equal(mixed.verdict, null);
});

test('what is no receipt, and wrong usage', (t) => {
  const folder = temporaryFolder(t);
  const broken = path.join(folder, 'broken.json');
  fs.writeFileSync(broken, '{"schema": "qp-receipt/1", "schema": "qp-receipt/1"}');
  for (const [a, b] of [[broken, seed('fastify')], [seed('fastify'), 'no-such-file'], ['Makefile', seed('fastify')]]) {
    const run = qp(['diff', a, b]);
    assert.equal(run.code, 1, run.stderr);
    assert.equal(run.stdout, '');
  }
  assert.match(qp(['diff', seed('fastify'), 'no-such-file']).stderr, /no-such-file/);
  assert.equal(qp(['diff', seed('fastify')]).code, 2);
  assert.equal(qp(['diff', '--frobnicate', 'a', 'b']).code, 2);
  const full = fs.openSync('/dev/full', 'w');
  t.after(() => fs.closeSync(full));
  assert.equal(qp(['diff', seed('fastify'), seed('netbenign')], { stdio: ['ignore', full, 'pipe'] }).code, 1);
});
