// SPDX-License-Identifier: Apache-2.0
// Any command in the sandbox: paths as the kernel has them, counters to the last call.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { assertComplete, assertReplays, build, observations, qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

function logLines(run) {
  return qp(['log', run.log]).stdout.trim().split('\n').map((line) => JSON.parse(line));
}

test('relative names in a folder that was entered are told whole', (t) => {
  const run = receiptOf(t, ['exec', '--', 'sh', '-c',
    'cat /etc/passwd; mkdir /tmp/x && cd /tmp/x && : > rel && rm rel']);
  assert.equal(run.code, 0, run.stderr);
  assertComplete(run.receipt);
  const files = run.receipt.observations.filter((o) => o.kind.startsWith('file-'));
  const of = (kind) => files.filter((o) => o.kind === kind).map((o) => o.path);
  assert.ok(of('file-create').includes('/tmp/x'));
  assert.ok(of('file-create').includes('/tmp/x/rel'));
  assert.ok(of('file-delete').includes('/tmp/x/rel'));
  assertReplays(run);
});

test('1,000,003 getppid calls and 10,007 opens are counted to the last one', (t) => {
  // A folder that only root may enter, as root's own often are.
  const folder = temporaryFolder(t);
  fs.copyFileSync(path.join(build, 'probes', 'calls'), path.join(folder, 'calls'));
  const run = receiptOf(t, ['exec', '--in', folder, '--', './calls', 'getppid', '1000003', 'open', '10007']);
  const { counters } = run.receipt.evidence;
  assert.equal(counters.calls.getppid, 1_000_003);
  assert.equal(counters.events.lost, 0);
  assert.equal(counters.events.produced, counters.events.delivered);
  const opens = logLines(run).filter((r) => r.type === 'event' && r.call === 'openat' &&
    JSON.stringify(r).includes('/tmp/opened'));
  assert.equal(opens.length, 10_007);
  assertComplete(run.receipt);
  assertReplays(run);
});

test('the command runs as nobody in particular, with no way out', (t) => {
  const run = receiptOf(t, ['exec', '--', 'sh', '-c',
    'grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):" /proc/self/status; id -u; ls -a /; env; hostname; cat /proc/self/mountinfo; ls /proc | grep -c "^[0-9]"']);
  const output = run.receipt.logs.sandboxOutput;
  for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
    assert.match(output, new RegExp(`${name}:\\s0{16}`));
  }
  assert.match(output, /NoNewPrivs:\s1/);
  assert.match(output, /Seccomp:\s2/);
  assert.doesNotMatch(output, /^(QP|qp)_|sandbox|quarantine|honey|decoy|dockerenv/m);
  const scan = run.receipt.secretScan.sandbox;
  assert.equal(scan.pass, true);
  assert.equal(scan.envNamesScanned, 7);
  assert.deepEqual(scan.keyLikeEnvNames, []);
  // The mounts that were read from outside are those that the command saw.
  const seen = output.split('\n').map((line) => line.split(' - ')).filter((halves) => halves.length === 2)
    .map(([left, right]) => ({ mountPoint: left.split(' ')[4], fsType: right.split(' ')[0], readOnly: left.split(' ')[5].split(',').includes('ro') }));
  assert.deepEqual(scan.mounts, seen);
  assert.equal(run.receipt.sandbox.hardening.ReadonlyRootfs, true);
  assert.deepEqual(run.receipt.sandbox.hardening.CapAdd, null);
});

test('a limit that was reached is said, and is never install', (t) => {
  const slow = receiptOf(t, ['exec', '--seconds', '2', '--', 'sleep', '30']);
  assert.equal(slow.code, 10, slow.stderr);
  assert.equal(slow.receipt.sandbox.endedBy, 'time');
  assert.deepEqual(slow.receipt.sandbox.limitsHit, ['time']);
  assert.ok(slow.receipt.rulesFired.some((rule) => rule.id === 'h'));
  assertReplays(slow);

  const full = receiptOf(t, ['exec', '--', 'sh', '-c', 'head -c 100000000 /dev/zero > /tmp/big; exit 0']);
  assert.equal(full.code, 10, full.stderr);
  assert.ok(full.receipt.sandbox.limitsHit.includes('tmpfs'));
});

test('attacks on isolation are refused and named', (t) => {
  const run = receiptOf(t, ['exec', '--', 'sh', '-c', 'unshare -r true; mount -t tmpfs x /mnt; nsenter -t 1 -m true; exit 0']);
  assert.equal(run.code, 20, run.stderr);
  const calls = observations(run.receipt, 'tamper').map((o) => o.call);
  assert.ok(calls.includes('unshare'), JSON.stringify(calls));
  assert.ok(calls.includes('mount'), JSON.stringify(calls));
  assertReplays(run);
});

test('an image of one static program is root enough for a command', (t) => {
  const image = path.join(temporaryFolder(t), 'image');
  fs.mkdirSync(path.join(image, 'bin'), { recursive: true });
  fs.copyFileSync(path.join(build, 'probes', 'calls'), path.join(image, 'bin/calls'));
  const run = receiptOf(t, ['exec', '--rootfs', image, '--', '/bin/calls', 'getppid', '1003']);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.receipt.evidence.counters.calls.getppid, 1003);
  assert.deepEqual(observations(run.receipt, 'spawn').map((o) => o.exe), ['/bin/calls']);
  assertComplete(run.receipt);
  assert.deepEqual(fs.readdirSync(image), ['bin'], 'nothing is written to the image');
  const noNode = qp(['run', '--rootfs', image, '--out', path.join(temporaryFolder(t), 'out'), 'fixture:quiet']);
  assert.equal(noNode.code, 3, noNode.stderr);
  assert.match(noNode.stderr, /there is no node in .*image/);
});
