// SPDX-License-Identifier: Apache-2.0
// Runs qp-collect on cgroups that a test makes and fills, and reads what it leaves behind.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { spawnSync } from 'node:child_process';
import { build, ended, start, temporaryFolder, waitFor } from './qp.mjs';

export const program = path.join(build, 'qp-collect');
export const EVENT = 2, PREAMBLE = 1, TRAILER = 255;

export function cgroupMountPoint() {
  const line = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n').find((l) => l.includes(' - cgroup2 '));
  return line.split(' ')[4];
}

export const top = cgroupMountPoint();
let serial = 0;
export const freshName = () => `qp-collect-${process.pid}-${serial++}`;

// The kernel empties a group a little after its last process was waited for.
export function isGone(folder) {
  try {
    fs.rmdirSync(folder);
  } catch (error) {
    return error.code === 'ENOENT';
  }
  return true;
}

export function makeGroup(t, name) {
  const folder = path.join(top, name);
  fs.mkdirSync(folder);
  t.after(() => waitFor(() => isGone(folder), `${folder} to be empty`));
  return folder;
}

// Runs a shell command in the group and waits for its end.
export function runIn(folder, command) {
  const result = spawnSync('sh', ['-c', `echo 0 > ${folder}/cgroup.procs && exec ${command}`]);
  assert.equal(result.status, 0, String(result.stderr));
}

// The records of a log, as far as it is whole.
export function readLog(file) {
  const bytes = zlib.gunzipSync(fs.readFileSync(file), { finishFlush: zlib.constants.Z_SYNC_FLUSH });
  const records = [];
  assert.equal(bytes.subarray(0, 8).toString('latin1'), 'QPLOG\r\n\x1a');
  for (let at = 12; at + 8 <= bytes.length;) {
    const len = bytes.readUInt32LE(at);
    if (at + 8 + len > bytes.length) break;
    const payload = bytes.subarray(at + 8, at + 8 + len);
    const type = bytes.readUInt16LE(at + 4);
    records.push({ type, payload, json: type === EVENT ? null : JSON.parse(payload) });
    at += 8 + len;
  }
  return records;
}

export function assertBalanced(records) {
  const trailer = records.at(-1).json;
  const { produced, delivered, lost } = trailer.counters.events;
  assert.equal(records.at(-1).type, TRAILER);
  assert.equal(trailer.complete, true);
  assert.equal(produced, delivered + lost);
  assert.equal(delivered, records.filter((r) => r.type === EVENT).length);
  const calls = Object.values(trailer.counters.calls).reduce((sum, n) => sum + n, 0);
  assert.equal(calls, trailer.counters.syscalls);
  return trailer.counters;
}

// A collector that the test ends; `ready` when it has attached.
export async function collect(t, args, options = {}) {
  const out = options.out ?? path.join(temporaryFolder(t), 'out');
  const metrics = options.metrics ?? path.join(temporaryFolder(t), 'metrics');
  const child = start([...(options.before ?? []), ...args, '--out', out, '--metrics', metrics], { program, ...options });
  const end = ended(child);
  t.after(() => child.exitCode === null && child.kill('SIGKILL'));
  await waitFor(() => fs.existsSync(metrics) || child.exitCode !== null, 'the collector');
  const value = (name) => Number(fs.readFileSync(metrics, 'utf8').match(new RegExp(`^qp_collect_${name} (\\d+)$`, 'm'))[1]);
  const stop = async (signal = 'SIGTERM') => { child.kill(signal); return end; };
  const files = (ending, name = '') => (fs.existsSync(out) ? fs.readdirSync(out) : [])
    .filter((f) => f.endsWith(ending) && f.startsWith(name)).sort().map((f) => path.join(out, f));
  return { child, out, end, stop, value, logs: (name) => files('.qplog', name), receipts: (name) => files('.receipt.json', name) };
}

export const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
