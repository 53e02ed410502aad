// SPDX-License-Identifier: Apache-2.0
// Signed receipts: what they say, and that programs that are none of ours believe them.
import test from 'node:test';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { qp, receiptOf, temporaryFolder } from './lib/qp.mjs';
import { canonical, keys, linesOf, opened, pae, payloadOf, RECORD, sha256, signedRun, STATEMENT, verify } from './lib/signed.mjs';

const SCRIPT = 'echo hi > /tmp/x; mv /tmp/x /tmp/y; touch /etc/x; cat ~/.npmrc; getent hosts a.example; exit 3';

function folderWith(t, script = SCRIPT) {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  return { folder, pair, run: signedRun(folder, 'one', pair, ['exec', '--', 'sh', '-c', script]) };
}

test('a signed run verifies, offline, and says which checks held', (t) => {
  const { run, pair } = folderWith(t);
  assert.match(run.stdout, /^ {2}signed {3}by key [0-9a-f]{16}; line 1 of .*\/bundle\.jsonl$/m);
  const result = verify(run, pair, {}, ['--line', '1']);
  assert.equal(result.code, 0, result.stderr);
  assert.equal(result.stderr, '');
  assert.deepEqual(result.stdout.split('\n').map((line) => line.split(' ')[0]),
    ['envelope', 'signature', 'statement', 'bundle', 'log', 'record', 'claim', '']);
});

test('without a key the receipt is not signed, and the summary says so', (t) => {
  const run = receiptOf(t, ['exec', '--', 'true']);
  assert.match(run.stdout, /^ {2}signed {3}no: --key PEM signs the receipt/m);
  assert.deepEqual(fs.readdirSync(run.out).sort(), ['receipt.json', 'run.qplog']);
});

test('the statement names log and record, and is complete as the markers are', (t) => {
  const { run, pair } = folderWith(t);
  const { statement } = run;
  const record = payloadOf(JSON.parse(linesOf(run.bundle)[0]));
  assert.equal(statement._type, 'https://in-toto.io/Statement/v1');
  assert.deepEqual(statement.subject, [
    { name: 'run.qplog', digest: { sha256: sha256(fs.readFileSync(run.log)) } },
    { name: 'run-record', digest: { sha256: sha256(record) } },
  ]);
  assert.equal(payloadOf(run.envelope).toString(), canonical(statement));
  assert.equal(record.toString(), canonical(JSON.parse(record)));
  assert.deepEqual(statement.predicate.receipt, run.receipt);
  assert.equal(statement.predicate.verdict, run.receipt.verdict);
  assert.deepEqual(statement.predicate.knownLimitations, run.receipt.knownLimitations);
  assert.equal(statement.predicate.complete, true);
  const der = crypto.createPublicKey(pair.publicPem).export({ type: 'spki', format: 'der' });
  assert.equal(run.envelope.signatures[0].keyid, sha256(der));
});

test('every change and call is on exactly one side, once, and belongs to one actor', (t) => {
  const { run } = folderWith(t);
  const { monitorLog, actors } = run.statement.predicate;
  const sided = run.receipt.observations.filter((o) => /^net-/.test(o.kind) || (/^file-/.test(o.kind) && o.kind !== 'file-read'));
  assert.ok(sided.length >= 4, JSON.stringify(sided));
  for (const o of sided) {
    const holders = actors.flatMap((group) => ['effected', 'attempted', 'undetermined']
      .filter((side) => group[side].includes(o.id)).map((side) => [group.actor, group.package, side]));
    assert.deepEqual(holders, [[o.actor, o.package, o.outcome ?? 'undetermined']], o.id);
  }
  const all = actors.flatMap((group) => [...group.effected, ...group.attempted, ...group.undetermined]);
  assert.deepEqual([...all].sort(), sided.map((o) => o.id).sort());
  const files = new Map(monitorLog.fileAccess.map((f) => [f.annotations.id, f]));
  assert.equal(files.get(sided.find((o) => o.kind === 'file-rename').id).annotations.newPath, '/tmp/y');
  assert.ok(monitorLog.fileAccess.some((f) => f.annotations.kind === 'file-read' && f.name.endsWith('/.npmrc')));
  assert.ok(monitorLog.fileAccess.some((f) => f.name === '/etc/x' && f.annotations.outcome === 'attempted'));
  assert.ok(monitorLog.network.some((n) => n.hostname === 'a.example' && n.port === 53 && n.protocol === 'udp'));
  // Every process is in one group, and each program is where it was started.
  assert.deepEqual(actors.flatMap((group) => group.processes).sort((a, b) => a - b), monitorLog.process.map((_, i) => i));
  const programs = monitorLog.process.flatMap((p) => p.programs);
  assert.deepEqual(programs.map((p) => p.id).sort(), run.receipt.observations.filter((o) => o.kind === 'spawn').map((o) => o.id).sort());
  assert.ok(programs.some((p) => p.exe === '/usr/bin/getent' && p.argv[2] === 'a.example'));
});

test('the run record says what was sent, what came back and which sandbox', (t) => {
  const { run } = folderWith(t);
  const record = opened(JSON.parse(linesOf(run.bundle)[0]));
  const preamble = JSON.parse(qp(['log', run.log]).stdout.split('\n')[0]).record;
  assert.equal(record.previous, '0'.repeat(64));
  assert.deepEqual(record.sent.command, ['sh', '-c', SCRIPT]);
  assert.deepEqual(record.sent.limits, run.receipt.limits);
  assert.equal(record.sent.rules.sha256, sha256(fs.readFileSync('rules/default.json')));
  assert.equal(record.returned.exitCode, run.receipt.sandbox.exitCode);
  assert.equal(record.returned.outputSha256, sha256(run.receipt.logs.sandboxOutput));
  assert.deepEqual(record.returned.log, run.receipt.evidence.log);
  assert.equal(record.sandbox.nonce, run.receipt.nonce);
  assert.equal(record.sandbox.bootId, fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  assert.equal(record.sandbox.cgroupId, run.receipt.sandbox.cgroup.id);
  assert.equal(record.sandbox.containerId, run.receipt.sandbox.containerId);
  assert.deepEqual([record.startedAt, record.finishedAt], [run.receipt.startedAt, run.receipt.finishedAt]);
  assert.equal(record.versions.kernel, preamble.kernel.release);
});

test('a fetched package is a subject by the sha512 of its tarball', (t) => {
  const folder = temporaryFolder(t);
  const run = signedRun(folder, 'one', keys(folder), ['run', 'fixture:quiet']);
  const { integrity } = run.receipt.download;
  assert.match(integrity, /^sha512-/);
  const hex = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
  const { name, version } = run.receipt.package;
  assert.deepEqual(run.statement.subject[0], { name: `${name}@${version}`, digest: { sha512: hex } });
  const record = opened(JSON.parse(linesOf(run.bundle)[0]));
  assert.equal(record.sent.integrity, integrity);
  assert.equal(record.versions.node, run.receipt.images.versions.node);
  assert.match(record.versions.npm, /^\d+\./);
});

test('openssl and node accept the signatures of statement and record, not of tampered ones', (t) => {
  const { run, pair, folder } = folderWith(t);
  const line = JSON.parse(linesOf(run.bundle)[0]);
  for (const [envelope, type] of [[run.envelope, STATEMENT], [line, RECORD]]) {
    assert.equal(envelope.payloadType, type);
    const signature = Buffer.from(envelope.signatures[0].sig, 'base64');
    const good = pae(type, payloadOf(envelope));
    const bad = Buffer.from(good);
    bad[bad.length - 2] ^= 1;
    assert.equal(crypto.verify(null, good, pair.publicPem, signature), true);
    assert.equal(crypto.verify(null, bad, pair.publicPem, signature), false);
    const names = ['signature', 'good', 'bad'].map((name) => path.join(folder, name));
    [signature, good, bad].forEach((bytes, i) => fs.writeFileSync(names[i], bytes));
    const openssl = (message) => spawnSync('openssl', ['pkeyutl', '-verify', '-pubin', '-inkey', pair.pub, '-rawin', '-in', message, '-sigfile', names[0]]).status;
    assert.equal(openssl(names[1]), 0);
    assert.notEqual(openssl(names[2]), 0);
  }
});

// Versions that this node runs: the latest need node 22.
const SIGSTORE = ['@sigstore/verify@3.1.1', '@sigstore/bundle@4.0.0', '@sigstore/core@3.2.1'];
const CHECK = `
const { toDSSEBundle } = require('@sigstore/bundle');
const { Verifier, toSignedEntity, toTrustMaterial } = require('@sigstore/verify');
const { createPublicKey } = require('node:crypto');
const { envelope, pem } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const publicKey = createPublicKey(pem);
const roots = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
const trust = toTrustMaterial(roots, () => ({ publicKey, validFor: () => true }));
const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, tsaThreshold: 0 });
const [{ sig, keyid }] = envelope.signatures;
const bundle = toDSSEBundle({ artifact: Buffer.from(envelope.payload, 'base64'), artifactType: envelope.payloadType,
  signature: Buffer.from(sig, 'base64'), keyHint: keyid });
try { verifier.verify(toSignedEntity(bundle)); console.log('accepted'); } catch (error) { console.log(error.code); }`;

test('@sigstore/verify accepts the envelope and refuses a tampered one', (t) => {
  const folder = temporaryFolder(t);
  const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, ...SIGSTORE], { encoding: 'utf8', timeout: 120_000 });
  if (installed.status !== 0) return t.skip(`npm could not fetch @sigstore/verify: ${installed.stderr.split('\n')[0]}`);
  const { run, pair } = folderWith(t);
  const check = (envelope) => spawnSync('node', ['-e', CHECK], {
    cwd: folder, encoding: 'utf8', input: JSON.stringify({ envelope, pem: pair.publicPem }),
  }).stdout.trim();
  assert.equal(check(run.envelope), 'accepted');
  const payload = payloadOf(run.envelope).toString().replace('"complete":true', '"complete":false');
  assert.equal(check({ ...run.envelope, payload: Buffer.from(payload).toString('base64') }), 'SIGNATURE_ERROR');
  return undefined;
});
