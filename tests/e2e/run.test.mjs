// SPDX-License-Identifier: Apache-2.0
// The main job: packages in, verdicts and receipts out.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { assertComplete, assertNoTraces, assertReplays, observations, receiptOf } from './lib/qp.mjs';

const ids = (receipt) => receipt.rulesFired.map((rule) => rule.id);
const cited = (receipt, id) => receipt.rulesFired.find((rule) => rule.id === id).observationIds
  .map((name) => receipt.observations.find((o) => o.id === name));

test('quiet: a package that does nothing may be installed', async (t) => {
  const run = receiptOf(t, ['run', 'fixture:quiet']);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.receipt.verdict, 'install');
  assert.deepEqual(run.receipt.rulesFired, []);
  assertComplete(run.receipt);
  assertReplays(run);
  await assertNoTraces();
});

test('netbenign: one GET is seen whole and means review by rule f alone', (t) => {
  const run = receiptOf(t, ['run', 'fixture:netbenign']);
  const { receipt } = run;
  assert.equal(run.code, 10, run.stderr);
  assert.equal(receipt.verdict, 'review');
  assert.deepEqual(ids(receipt), ['f']);
  assertComplete(receipt);

  const dns = observations(receipt, 'net-dns');
  assert.equal(dns.length, 1);
  assert.equal(dns[0].dest, 'downloads.qp-fixture.example');
  assert.equal(dns[0].port, 53);
  assert.equal(dns[0].sinkholeLogged, true);
  assert.ok(dns[0].queries.some((q) => q.name === 'downloads.qp-fixture.example' && q.qtype === 1));

  const tcp = observations(receipt, 'net-tcp');
  assert.equal(tcp.length, 1);
  assert.equal(tcp[0].dest, 'downloads.qp-fixture.example');
  assert.equal(tcp[0].port, 80);
  assert.match(tcp[0].orig_dest, /^198\.1[89]\.\d+\.\d+:80$/);
  assert.equal(tcp[0].proto, 'http');
  assert.equal(tcp[0].payload, false);
  assert.equal(tcp[0].sinkholeLogged, true);
  assert.deepEqual(tcp[0].http, {
    method: 'GET', host: 'downloads.qp-fixture.example', path: '/prebuilt/v1/linux-x64.json', payloadBytes: 0,
  });

  const spawns = observations(receipt, 'spawn');
  assert.deepEqual(spawns.map((s) => s.argv), [['sh', '-c', 'node check.js'], ['node', 'check.js']]);
  for (const o of [...spawns, ...dns, ...tcp]) assert.equal(o.package, 'qp-fixture-netbenign');
  assert.match(receipt.logs.sandboxOutput, /HTTP 403, building from source instead/);
  assertReplays(run);
});

// What a record has beyond the older path's.
const ADDED = { dns: ['bytes', 'dstIp', 'dstPort', 'proto'], tcp: ['headers'] };
// These are of the run at hand.
const OF_THE_RUN = ['t', 'srcIp', 'srcPort'];

test("netbenign: the sinkhole's log has the fields and values of the older path's receipt", (t) => {
  const seed = JSON.parse(fs.readFileSync('tests/cases/receipts/seed-netbenign.json', 'utf8'));
  const run = receiptOf(t, ['run', 'fixture:netbenign']);
  // Node before 19 says "close" for "keep-alive" (its agent's default).
  seed.network.sinkholeLog[1].bytesReceived -= Number(process.versions.node.split('.')[0]) < 19 ? 5 : 0;
  // The older path's network had no IPv6.
  const log = run.receipt.network.sinkholeLog.filter((record) => record.qtype !== 28);
  assert.deepEqual(log.map((r) => r.type), seed.network.sinkholeLog.map((r) => r.type));
  seed.network.sinkholeLog.forEach((wanted, i) => {
    const record = log[i];
    assert.deepEqual(Object.keys(record).sort(), [...Object.keys(wanted), ...ADDED[wanted.type]].sort());
    for (const [key, value] of Object.entries(wanted).filter(([name]) => !OF_THE_RUN.includes(name))) {
      assert.deepEqual(record[key], value, key);
    }
    assert.match(record.t, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.match(record.srcIp, /^\d+\.\d+\.\d+\.\d+$/);
    assert.ok(Number.isInteger(record.srcPort) && record.srcPort > 0);
  });
});

test('canary: every attempt outside is named with the outcome that the kernel gave', (t) => {
  const run = receiptOf(t, ['run', 'fixture:canary']);
  const { receipt } = run;
  assert.equal(run.code, 20, run.stderr);
  assert.ok(ids(receipt).includes('a'));
  const paths = cited(receipt, 'a');
  const of = (name) => paths.filter((o) => o.path === name || o.path2 === name);
  assert.ok(of('/root/.canary').some((o) => o.outcome === 'attempted'), JSON.stringify(paths, null, 1));
  // The write through the symlink is told by where it leads.
  assert.ok(paths.some((o) => o.path.startsWith('/etc/') && o.outcome === 'attempted'));
  assert.ok(paths.some((o) => o.path.startsWith('/proc/') && o.outcome === 'attempted'));
  for (const o of paths) assert.ok(['attempted', 'effected'].includes(o.outcome), JSON.stringify(o));
  assertReplays(run);
});

test('netraw: rule f names all three destinations, and nothing was sent over TCP', (t) => {
  const run = receiptOf(t, ['run', 'fixture:netraw']);
  const { receipt } = run;
  assert.equal(run.code, 10, run.stderr);
  assert.deepEqual(ids(receipt), ['f']);
  const seen = cited(receipt, 'f');
  assert.ok(seen.some((o) => o.kind === 'net-tcp' && o.orig_dest === '203.0.113.7:443'));
  assert.ok(seen.some((o) => o.kind === 'net-dns' && o.dest === 'canary.example'));
  assert.ok(seen.some((o) => o.kind === 'net-udp' && o.orig_dest === '198.51.100.9:53'), JSON.stringify(seen, null, 1));
  assertComplete(receipt);
  assertReplays(run);
});

test('thief: a stolen token that is posted is told by its label', (t) => {
  const run = receiptOf(t, ['run', 'fixture:thief']);
  assert.equal(run.code, 20, run.stderr);
  assert.deepEqual(ids(run.receipt), ['b1', 'c2', 'd', 'f']);
  const [sent] = cited(run.receipt, 'c2');
  assert.equal(sent.kind, 'net-tcp');
  assert.deepEqual(sent.decoys, ['npm-token']);
  assert.deepEqual(sent.decoyEncodings, ['plain']);
  assertComplete(run.receipt);
  assertReplays(run);
});

test('brought: code written in the run and then run is rule g', (t) => {
  const run = receiptOf(t, ['run', 'fixture:brought']);
  assert.equal(run.code, 10, run.stderr);
  assert.ok(ids(run.receipt).includes('g'));
  assertReplays(run);
});

test('lingerer: a process that outlives its phase is rule h', (t) => {
  const run = receiptOf(t, ['run', 'fixture:lingerer']);
  assert.equal(run.code, 10, run.stderr);
  assert.ok(ids(run.receipt).includes('h'));
});

test('badscript: a failed script is an incomplete run, never install', (t) => {
  const run = receiptOf(t, ['run', 'fixture:badscript']);
  assert.equal(run.code, 10, run.stderr);
  assert.ok(ids(run.receipt).includes('i'));
  assert.equal(run.receipt.completeness['harness-ran'].ok, false);
});

test('fastify: 48 packages from the registry, all seen, none to object to', (t) => {
  const run = receiptOf(t, ['run', 'fastify@5.12.4']);
  const { receipt } = run;
  assert.equal(run.code, 0, run.stderr);
  assert.deepEqual(receipt.rulesFired, []);
  assert.equal(receipt.download.inventory.packageCount, 48);
  assert.deepEqual(receipt.download.inventory.nonRegistry, []);
  assert.equal(receipt.harness.loaded, true);
  assertComplete(receipt);
  assertReplays(run);
});

test('a git dependency is refused before anything of it is fetched', (t) => {
  const run = receiptOf(t, ['run', 'fixture:gitdep']);
  assert.equal(run.code, 10, run.stderr);
  assert.equal(run.receipt.status, 'refused');
  assert.equal(run.receipt.download.precheck.ok, false);
  assert.equal(run.receipt.download.precheck.nonRegistry.length, 1);
  assert.match(run.stdout, /nothing was run.*\n.*git\+https:\/\/git\.example\/x\.git/);
  assert.match(run.receipt.finishedAt, /Z$/);
  assertReplays(run);
});
