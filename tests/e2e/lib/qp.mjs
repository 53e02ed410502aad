// SPDX-License-Identifier: Apache-2.0
// Runs the built programs as a user would, and looks at what they leave behind.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import assert from 'node:assert/strict';

export const build = path.resolve(process.env.QP_BUILD ?? 'build');
export const qpProgram = path.join(build, 'qp');

// A folder that the test removes when it ends.
export function temporaryFolder(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'qp-e2e-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Runs qp and returns {code, stdout, stderr}; code is 128 + N after signal N.
export function qp(args, options = {}) {
  const result = spawnSync(options.program ?? qpProgram, args, {
    encoding: 'utf8', maxBuffer: 1 << 28, timeout: 180_000, ...options,
  });
  if (result.error) throw result.error;
  const signal = result.signal ? 128 + os.constants.signals[result.signal] : 0;
  return { code: result.status ?? signal, stdout: result.stdout, stderr: result.stderr };
}

// `qp run` or `qp exec` into a fresh --out folder, with its receipt.
export function receiptOf(t, args, options = {}) {
  const out = path.join(temporaryFolder(t), 'out');
  const [command, ...rest] = args;
  const result = qp([command, '--out', out, ...rest], options);
  const file = path.join(out, 'receipt.json');
  const log = path.join(out, 'run.qplog');
  if (!fs.existsSync(file)) assert.fail(`no receipt; exit ${result.code}: ${result.stderr}`);
  const bytes = fs.readFileSync(file, 'utf8');
  return { ...result, out, file, log, bytes, receipt: JSON.parse(bytes) };
}

export function start(args, options = {}) {
  return spawn(options.program ?? qpProgram, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
}

// Waits for a child's end: {code, signal, stderr}.
export function ended(child) {
  let stderr = '';
  child.stderr?.on('data', (piece) => { stderr += piece; });
  child.stdout?.resume();
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stderr }));
  });
}

export function waitFor(condition, what, ms = 30_000) {
  const deadline = Date.now() + ms;
  return new Promise((resolve, reject) => {
    const look = () => {
      const value = condition();
      if (value) resolve(value);
      else if (Date.now() > deadline) reject(new Error(`waited ${ms} ms for ${what}`));
      else setTimeout(look, 20);
    };
    look();
  });
}

// What of qp's is on the host now: groups, processes, mounts, folders, namespaces.
export function traces() {
  const found = [];
  const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  for (const line of mounts) {
    const fields = line.split(' ');
    if (line.includes(' - cgroup')) {
      for (const name of fs.readdirSync(fields[4])) {
        if (/^qp-(sandbox|download)-/.test(name)) found.push(`cgroup ${fields[4]}/${name}`);
      }
    } else if (/\/qp-[0-9a-f]{10}/.test(line)) {
      found.push(`mount ${fields[4]}`);
    }
  }
  for (const folder of ['/tmp', '/run']) {
    for (const name of fs.readdirSync(folder)) {
      if (/^qp-[0-9a-f]{10}/.test(name)) found.push(`folder ${folder}/${name}`);
    }
  }
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const comm = fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
      if (['qp-sinkhole', 'qp-janitor', 'qp-init', 'qp'].includes(comm)) found.push(`process ${pid} ${comm}`);
    } catch { /* it ended */ }
  }
  return found;
}

// What is there now and was not when the test file began must go away; another qp may be at
// work on the host at the same time, with traces of its own that come and go.
const before = new Set(traces());

export async function assertNoTraces() {
  let suspects = traces().filter((trace) => !before.has(trace));
  await waitFor(() => {
    const now = new Set(traces());
    suspects = suspects.filter((trace) => now.has(trace));
    return suspects.length === 0;
  }, 'the host to be clean', 90_000).catch(() => assert.deepEqual(suspects, []));
}

export function observations(receipt, kind, actor = 'package') {
  return receipt.observations.filter((o) => o.kind === kind && (actor === null || o.actor === actor));
}

export function assertComplete(receipt) {
  for (const [name, marker] of Object.entries(receipt.completeness)) {
    assert.equal(marker.ok, true, `${name}: ${JSON.stringify(marker.runs)}`);
  }
  assert.equal(Object.keys(receipt.completeness).length, 6);
}

// The same log gives the same bytes again.
export function assertReplays(run) {
  const replayed = qp(['replay', run.log]);
  assert.equal(replayed.stdout === run.bytes, true, `replay differs: ${replayed.stderr}`);
  assert.equal(replayed.code, run.code);
}
