// SPDX-License-Identifier: Apache-2.0
// qp-collect by itself, on cgroups that a user makes and fills by hand.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { spawnSync } from 'node:child_process';
import { build, ended, start, temporaryFolder, waitFor } from './lib/qp.mjs';

const program = path.join(build, 'qp-collect');
const EVENT = 2, PREAMBLE = 1, TRAILER = 255;

function cgroupMountPoint() {
  const line = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n').find((l) => l.includes(' - cgroup2 '));
  return line.split(' ')[4];
}

function makeGroup(t, name) {
  const folder = path.join(cgroupMountPoint(), name);
  fs.mkdirSync(folder);
  t.after(() => fs.existsSync(folder) && fs.rmdirSync(folder));
  return folder;
}

// Runs a shell command in the group and waits for its end.
function runIn(folder, command) {
  const result = spawnSync('sh', ['-c', `echo 0 > ${folder}/cgroup.procs && exec ${command}`]);
  assert.equal(result.status, 0, String(result.stderr));
}

function readLog(file) {
  const bytes = zlib.gunzipSync(fs.readFileSync(file));
  const records = [];
  assert.equal(bytes.subarray(0, 8).toString('latin1'), 'QPLOG\r\n\x1a');
  for (let at = 12; at < bytes.length;) {
    const len = bytes.readUInt32LE(at);
    const payload = bytes.subarray(at + 8, at + 8 + len);
    const type = bytes.readUInt16LE(at + 4);
    records.push({ type, payload, json: type === EVENT ? null : JSON.parse(payload) });
    at += 8 + len;
  }
  return records;
}

function assertBalanced(records, trailer) {
  const { produced, delivered, lost } = trailer.counters.events;
  assert.equal(trailer.complete, true);
  assert.equal(produced, delivered + lost);
  assert.equal(delivered, records.filter((r) => r.type === EVENT).length);
}

test('a group that was made before and one made later', async (t) => {
  const out = path.join(temporaryFolder(t), 'logs');
  const prefix = `qp-collect-${process.pid}`;
  const first = makeGroup(t, `${prefix}-first`);
  const child = start(['--cgroup', `${prefix}-*`, '--out', out, '--exit-when-empty'], { program });
  const end = ended(child);
  t.after(() => child.exitCode === null && child.kill('SIGKILL'));
  await waitFor(() => fs.existsSync(`${out}/${prefix}-first.qplog`), 'the first log');
  const second = makeGroup(t, `${prefix}-second`);
  await waitFor(() => fs.existsSync(`${out}/${prefix}-second.qplog`), 'the second log');
  runIn(second, 'mkdir -p /tmp');
  runIn(first, 'true');
  await end;
  assert.equal(child.exitCode, 0);
  for (const name of ['first', 'second']) {
    const records = readLog(`${out}/${prefix}-${name}.qplog`);
    const trailer = records.at(-1).json;
    assert.equal(records[0].type, PREAMBLE);
    assert.equal(records[0].json.mode, 'collect');
    assert.equal(records[0].json.joinedLate, false);
    assert.equal(records[0].json.cgroups[0].path, `${prefix}-${name}`);
    assert.equal(records.at(-1).type, TRAILER);
    assertBalanced(records, trailer);
    assert.equal(trailer.counters.calls.execve >= 1, true);
  }
});

test('a group in which someone is already is joined late, and a signal ends it in order', async (t) => {
  const out = path.join(temporaryFolder(t), 'logs');
  const name = `qp-collect-${process.pid}-late`;
  const group = makeGroup(t, name);
  const sleeper = start(['-c', `echo 0 > ${group}/cgroup.procs && exec sleep 60`], { program: 'sh' });
  const slept = ended(sleeper);
  await waitFor(() => fs.readFileSync(`${group}/cgroup.procs`, 'utf8') !== '', 'the sleeper');
  const child = start(['--cgroup', name, '--out', out], { program });
  const end = ended(child);
  await waitFor(() => fs.existsSync(`${out}/${name}.qplog`), 'the log');
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.kill('SIGTERM');
  await end;
  sleeper.kill('SIGKILL');
  await slept;
  assert.equal(child.exitCode, 0);
  const records = readLog(`${out}/${name}.qplog`);
  assert.equal(records[0].json.joinedLate, true);
  assertBalanced(records, records.at(-1).json);
});

test('mistakes are told', (t) => {
  const run = (...args) => spawnSync(program, args, { encoding: 'utf8' });
  const none = run('--cgroup', 'qp-no-such-group', '--exit-when-empty', '--out', temporaryFolder(t));
  assert.equal(none.status, 1);
  assert.match(none.stderr, /no cgroup matches qp-no-such-group/);
  assert.equal(run().status, 2);
  assert.match(run('--help').stdout, /--exit-when-empty/);
});
