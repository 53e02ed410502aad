// SPDX-License-Identifier: Apache-2.0
// qp-collect by itself, on cgroups that a user makes and fills by hand.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { build, ended, qp, start, temporaryFolder, waitFor } from './lib/qp.mjs';
import {
  EVENT, PREAMBLE, TRAILER, assertBalanced, collect, freshName, isGone, makeGroup, program, readJson, readLog, runIn, top,
} from './lib/collect.mjs';

const CALLS = 1003;
const JOINED = 19;

test('a group that was made before and one made later', async (t) => {
  const prefix = freshName();
  const first = makeGroup(t, `${prefix}-first`);
  const c = await collect(t, ['--cgroup', `${prefix}-*`, '--exit-when-empty']);
  const second = makeGroup(t, `${prefix}-second`);
  runIn(second, 'mkdir -p /tmp');
  runIn(first, 'true');
  assert.equal((await c.end).code, 0);
  for (const name of ['first', 'second']) {
    const [log] = c.logs(`${prefix}-${name}-`);
    const records = readLog(log);
    assert.equal(records[0].type, PREAMBLE);
    assert.equal(records[0].json.mode, 'collect');
    assert.equal(records[0].json.joinedLate, false);
    assert.equal(records[0].json.cgroups[0].path, `${prefix}-${name}`);
    assert.equal(assertBalanced(records).calls.execve >= 1, true);
    const [receipt] = c.receipts(`${prefix}-${name}-`);
    assert.equal(qp(['replay', log]).stdout, fs.readFileSync(receipt, 'utf8'));
  }
});

test('what is not watched is said', async (t) => {
  const name = freshName();
  const c = await collect(t, ['--cgroup', name]);
  const group = makeGroup(t, name);
  // io_submit of no context: it fails, and is a call of it all the same.
  runIn(group, `${path.resolve(build, 'probes/calls')} io_submit 3`);
  assert.equal((await c.stop()).code, 0);
  const receipt = readJson(c.receipts(name)[0]);
  assert.equal(receipt.completeness['kernel-trace'].ok, false);
  assert.match(JSON.stringify(receipt.completeness['kernel-trace']), /io_submit was called 3 times, and what it writes is not recorded/);
  assert.ok(receipt.knownLimitations.some((text) => text.startsWith('Reads of environment variables are not observed')));
  assert.ok(!receipt.knownLimitations.some((text) => text.startsWith('Reads of environment variables are observed')));
});

async function groupsAreExact(t, mode, groups) {
  const prefix = freshName();
  const c = await collect(t, ['--cgroup', `${prefix}-*`]);
  const made = spawnSync(path.join(build, 'probes/groups'), [mode, `${top}/${prefix}-`, String(groups), String(CALLS)]);
  assert.equal(made.status, 0, String(made.stderr));
  const { code, stderr } = await c.stop();
  assert.equal(code, 0, stderr);
  assert.equal(c.logs('').length, groups);
  for (let i = 0; i < groups; i++) {
    const [log] = c.logs(`${prefix}-${i}-`);
    const records = readLog(log);
    const counters = assertBalanced(records);
    assert.equal(records[0].json.joinedLate, false, log);
    assert.equal(counters.calls.getppid, CALLS + i, log);
    assert.equal(counters.calls.mkdir, i % 5 + 1, log);
    assert.equal(counters.events.lost, 0);
    const receipt = readJson(c.receipts(`${prefix}-${i}-`)[0]);
    assert.equal(receipt.completeness['kernel-trace'].ok, true, log);
  }
  assert.equal(c.value('groups_total'), groups);
  assert.equal(c.value('events_undelivered_total'), 0);
}

test('100 groups filled at once after they are made are recorded from the first call', (t) => groupsAreExact(t, 'race', 100));

test('200 groups at the same time are counted each by itself', (t) => groupsAreExact(t, 'together', 200));

test('patterns reach groups of groups that are made later, absolute ones too', async (t) => {
  const prefix = freshName();
  const c = await collect(t, ['--cgroup', `${top}/${prefix}-abs*`, '--cgroup', `/sys/fs/cgroup/${prefix}-usual`, '--cgroup', `${prefix}-deep/in*/x`]);
  const names = [`${prefix}-absolute`, `${prefix}-usual`, `${prefix}-deep`, `${prefix}-deep/in1`, `${prefix}-deep/out`, `${prefix}-deep/in1/x`, `${prefix}-deep/in1/y`, `${prefix}-deep/out/x`];
  const folders = names.map((name) => path.join(top, name));
  folders.forEach((folder) => fs.mkdirSync(folder));
  folders.forEach((folder) => runIn(folder, 'true'));
  folders.reverse().forEach((folder) => fs.rmdirSync(folder));
  assert.equal((await c.stop()).code, 0);
  const recorded = c.logs('').map((log) => readLog(log)[0].json.cgroups[0].path).sort();
  assert.deepEqual(recorded, [`${prefix}-absolute`, `${prefix}-deep/in1/x`, `${prefix}-usual`]);
  assert.equal(path.basename(c.logs(`${prefix}-deep`)[0]).startsWith(`${prefix}-deep%2Fin1%2Fx-2`), true);
});

test('a group in which someone is already is joined late, and who it was is told', async (t) => {
  const name = freshName();
  const group = makeGroup(t, name);
  const folder = temporaryFolder(t);
  const script = `echo 0 > ${group}/cgroup.procs; cd ${folder}; exec 7>${folder}/held; while :; do : > ${folder}/made; sleep 0.05; done`;
  const busy = start(['-c', script, '', 'last'], { program: 'sh' });
  const busyEnd = ended(busy);
  await waitFor(() => fs.existsSync(`${folder}/made`), 'the shell');
  const c = await collect(t, ['--cgroup', name]);
  fs.rmSync(`${folder}/made`);
  await waitFor(() => fs.existsSync(`${folder}/made`), 'the shell again');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { code, stderr } = await c.stop();
  busy.kill('SIGKILL');
  await busyEnd;
  assert.equal(code, 0, stderr);
  const records = readLog(c.logs(name)[0]);
  assert.equal(records[0].json.joinedLate, true);
  assertBalanced(records);
  const joined = records.find((r) => r.type === JOINED).json;
  assert.equal(joined.complete, true);
  const shell = joined.processes.find((p) => p.tgid === busy.pid);
  assert.equal(shell.exe, fs.realpathSync('/bin/sh'));
  assert.equal(shell.cwd, folder);
  assert.equal(shell.parentTgid, process.pid);
  assert.deepEqual(shell.argv, ['sh', '-c', script, '', 'last']);
  assert.equal(shell.files.find((file) => file.fd === 7).path, `${folder}/held`);
  const receipt = readJson(c.receipts(name)[0]);
  assert.equal(receipt.completeness['kernel-trace'].ok, false);
  assert.match(receipt.completeness['kernel-trace'].runs[0].detail.state, /joined-late/);
  assert.notEqual(receipt.verdict, 'install');
  const made = receipt.observations.find((o) => o.path === `${folder}/made`);
  assert.equal(made.exe, fs.realpathSync('/bin/sh'));
});

test('an emptied group has its receipt while it stays, and is recorded when filled again', async (t) => {
  const name = freshName();
  const group = makeGroup(t, name);
  const c = await collect(t, ['--cgroup', name]);
  runIn(group, 'true');
  await waitFor(() => c.receipts(name).length === 1, 'the first receipt');
  runIn(group, 'mkdir -p /tmp');
  await waitFor(() => c.receipts(name).length === 2, 'the second receipt');
  assert.equal((await c.stop()).code, 0);
  assert.equal(c.logs(name).length, 2);
  for (const log of c.logs(name)) {
    const records = readLog(log);
    assert.equal(records[0].json.joinedLate, false);
    assert.equal(assertBalanced(records).calls.execve >= 1, true);
  }
});

test('SIGHUP finishes the logs, and new ones go on where they end', async (t) => {
  const name = freshName();
  const group = makeGroup(t, name);
  const c = await collect(t, ['--cgroup', name]);
  const busy = start(['-c', `echo 0 > ${group}/cgroup.procs; while :; do mkdir /tmp 2>/dev/null; done`], { program: 'sh' });
  const busyEnd = ended(busy);
  for (let i = 1; i <= 3; i++) {
    await waitFor(() => c.logs(name).length === i, `log ${i}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    c.child.kill('SIGHUP');
    await waitFor(() => c.receipts(name).length === i, `receipt ${i}`);
  }
  busy.kill('SIGKILL');
  await busyEnd;
  assert.equal((await c.stop()).code, 0);
  const logs = c.logs(name);
  assert.equal(logs.length >= 4, true);
  let events = 0;
  logs.forEach((log, i) => {
    const records = readLog(log);
    const counters = assertBalanced(records);
    assert.equal(records[0].json.joinedLate, i > 0);
    assert.equal(counters.events.lost, 0);
    events += counters.events.produced;
  });
  assert.equal(c.value('events_produced_total'), events);
});

// What a receipt says of the kernel's trace.
function traceOf(receipt) {
  const { ok, detail } = readJson(receipt).observations.find((o) => o.marker === 'kernel-trace');
  return { ok, state: detail.state };
}

test('SIGHUP leaves the log of a group alone in which nothing has run yet', async (t) => {
  const name = freshName();
  const group = makeGroup(t, name);
  const c = await collect(t, ['--cgroup', name]);
  await waitFor(() => c.logs(name).length === 1, 'the log');
  for (let i = 0; i < 3; i++) c.child.kill('SIGHUP');
  runIn(group, 'mkdir -p /tmp');
  assert.equal((await c.stop()).code, 0);
  assert.equal(c.logs(name).length, 1);
  const records = readLog(c.logs(name)[0]);
  assert.equal(records[0].json.joinedLate, false);
  assert.equal(assertBalanced(records).calls.mkdir, 1);
  assert.equal(readJson(c.receipts(name)[0]).completeness['kernel-trace'].ok, true);
});

test('a group in which all has run before it was recorded does not look complete', async (t) => {
  const name = freshName();
  runIn(makeGroup(t, `${name}-before`), 'true');
  runIn(makeGroup(t, `${name}-again`), 'true');
  makeGroup(t, `${name}-never`);
  const c = await collect(t, ['--cgroup', `${name}-*`]);
  runIn(path.join(top, `${name}-again`), 'true');
  assert.equal((await c.stop()).code, 0);
  const trace = (which) => traceOf(c.receipts(`${name}-${which}`)[0]);
  assert.equal(trace('before').ok, false);
  assert.match(trace('before').state, /joined-late/);
  assert.equal(trace('again').ok, true);
  assert.equal(trace('never').ok, true);
  assert.equal(c.logs(name).length, 3);
});

test('who is moved in by another, or out, makes the trace incomplete', async (t) => {
  const name = freshName();
  const c = await collect(t, ['--cgroup', `${name}-*`]);
  const [into, out, own] = ['in', 'out', 'own'].map((which) => makeGroup(t, `${name}-${which}`));
  const sleeper = start(['60'], { program: 'sleep' });
  t.after(() => sleeper.kill('SIGKILL'));
  spawnSync('sh', ['-c', `echo ${sleeper.pid} > ${into}/cgroup.procs`]); // not its parent
  runIn(out, `sh -c 'echo 0 > ${top}/cgroup.procs; true'`);
  runIn(own, `sh -c 'mkdir ${own}/x && echo 0 > ${own}/x/cgroup.procs && exec true'`);
  await waitFor(() => isGone(`${own}/x`), 'the inner group to be empty');
  sleeper.kill('SIGKILL');
  assert.equal((await c.stop()).code, 0);
  const trace = (which) => traceOf(c.receipts(`${name}-${which}`)[0]);
  assert.equal(trace('in').ok, false);
  assert.match(trace('in').state, /^joined-late: process \d+ was moved into the group by another/);
  assert.equal(trace('out').ok, false);
  assert.match(trace('out').state, /^process \d+ was moved out of the group/);
  assert.equal(trace('own').ok, true);
});

test('what --rate turns away is lost, counted and told', async (t) => {
  const name = freshName();
  const c = await collect(t, ['--cgroup', `${name}*`, '--rate', '101']);
  const made = spawnSync(path.join(build, 'probes/groups'), ['race', `${top}/${name}-`, '1', '7']);
  assert.equal(made.status, 0);
  const flood = makeGroup(t, `${name}-flood`);
  runIn(flood, `${build}/probes/calls open 20011`);
  fs.rmdirSync(flood);
  assert.equal((await c.stop()).code, 0);
  const quiet = assertBalanced(readLog(c.logs(`${name}-0`)[0]));
  assert.equal(quiet.events.lost, 0);
  const counters = assertBalanced(readLog(c.logs(`${name}-flood`)[0]));
  assert.equal(counters.events.produced > 20011, true);
  assert.equal(counters.events.lost > 0, true);
  assert.equal(counters.events.delivered >= 101, true);
  assert.equal(counters.calls.openat >= 20011, true);
  assert.equal(c.value('events_limited_total'), counters.events.lost);
  const receipt = readJson(c.receipts(`${name}-flood`)[0]);
  assert.equal(receipt.completeness['kernel-trace'].ok, false);
  assert.match(receipt.completeness['kernel-trace'].runs[0].detail.state, /events (were lost|are missing)/);
});

test('a ring that is too small loses events, each counted, and none of another group', async (t) => {
  const name = freshName();
  const c = await collect(t, ['--cgroup', `${name}-*`, '--ring-size', '64K']);
  const floods = [0, 1, 2].map((i) => makeGroup(t, `${name}-flood${i}`));
  const children = floods.map((folder, i) => start(
    ['-c', `echo 0 > ${folder}/cgroup.procs; exec ${build}/probes/calls open ${30011 + i}`], { program: 'sh' }));
  await Promise.all(children.map(ended));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const quiet = spawnSync(path.join(build, 'probes/groups'), ['race', `${top}/${name}-quiet`, '1', '7']);
  assert.equal(quiet.status, 0);
  assert.equal((await c.stop()).code, 0);
  let produced = 0, lost = 0;
  floods.forEach((folder, i) => {
    const counters = assertBalanced(readLog(c.logs(`${name}-flood${i}-`)[0]));
    assert.equal(counters.events.produced > 30011 + i, true);
    assert.equal(counters.byCpu.reduce((sum, row) => sum + row.lost, 0), counters.events.lost);
    assert.equal(counters.byType.reduce((sum, row) => sum + row.lost, 0), counters.events.lost);
    assert.equal(counters.calls.close >= 30011 + i, true);
    produced += counters.events.produced;
    lost += counters.events.lost;
    const receipt = readJson(c.receipts(`${name}-flood${i}-`)[0]);
    assert.equal(receipt.completeness['kernel-trace'].ok, counters.events.lost === 0);
  });
  assert.equal(lost > 0, true);
  const calm = assertBalanced(readLog(c.logs(`${name}-quiet0-`)[0]));
  assert.equal(calm.events.lost, 0);
  assert.equal(c.value('events_produced_total'), produced + calm.events.produced);
  assert.equal(c.value('events_undelivered_total'), lost);
});

test('a full disk cuts one log, says so, and the collector goes on', async (t) => {
  const disk = temporaryFolder(t);
  assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]).status, 0);
  try {
    const name = freshName();
    const c = await collect(t, ['--cgroup', `${name}-*`], { out: disk });
    const flood = makeGroup(t, `${name}-flood`);
    runIn(flood, `${build}/probes/calls open 50021`);
    await waitFor(() => c.value('logs_failed_total') === 1, 'the failure');
    const [log] = c.logs(`${name}-flood`);
    const cut = readLog(log);
    assert.equal(cut[0].type, PREAMBLE);
    assert.notEqual(cut.at(-1).type, TRAILER);
    assert.equal(qp(['replay', log]).code !== 0, true);
    // Nothing of the next group can be written; the one after the disk has room again can.
    runIn(makeGroup(t, `${name}-unlucky`), 'true');
    fs.rmSync(log);
    runIn(makeGroup(t, `${name}-lucky`), 'true');
    const { code, stderr } = await c.stop();
    assert.equal(code, 1);
    assert.match(stderr, /flood-.*is cut: No space left on device/);
    assertBalanced(readLog(c.logs(`${name}-lucky`)[0]));
  } finally {
    assert.equal(spawnSync('umount', [disk]).status, 0);
  }
});

test('killed, it leaves logs that are readable to the last flush', async (t) => {
  const name = freshName();
  const group = makeGroup(t, name);
  const c = await collect(t, ['--cgroup', name]);
  const sleeper = start(['-c', `echo 0 > ${group}/cgroup.procs; mkdir /tmp 2>/dev/null; exec sleep 60`], { program: 'sh' });
  const slept = ended(sleeper);
  await waitFor(() => readLog(c.logs(name)[0]).some((r) => r.type === EVENT), 'a flushed event');
  await new Promise((resolve) => setTimeout(resolve, 1200));
  await c.stop('SIGKILL');
  sleeper.kill('SIGKILL');
  await slept;
  const records = readLog(c.logs(name)[0]);
  assert.equal(records[0].type, PREAMBLE);
  assert.equal(records.filter((r) => r.type === EVENT && r.payload.includes('sleep')).length > 0, true);
  const replayed = qp(['replay', c.logs(name)[0]]);
  const receipt = JSON.parse(replayed.stdout);
  assert.notEqual(receipt.verdict, 'install');
  assert.match(receipt.completeness['kernel-trace'].runs[0].detail.state, /cut/);
});

test('--json prints what each group did, also when its reader is slow', async (t) => {
  const name = freshName();
  const c = await collect(t, ['--cgroup', `${name}-*`, '--json']);
  c.child.stdout.pause();
  const made = spawnSync(path.join(build, 'probes/groups'), ['race', `${top}/${name}-`, '3', '7']);
  assert.equal(made.status, 0);
  await waitFor(() => c.receipts(name).length === 3, 'three receipts');
  const pieces = [];
  c.child.stdout.on('data', (piece) => pieces.push(piece));
  c.child.stdout.resume();
  assert.equal((await c.stop()).code, 0);
  const lines = Buffer.concat(pieces).toString().trim().split('\n').map((line) => JSON.parse(line));
  for (let i = 0; i < 3; i++) {
    const mine = lines.filter((line) => line.group === `${name}-${i}`);
    const receipt = readJson(c.receipts(`${name}-${i}-`)[0]);
    assert.deepEqual(mine.flatMap((line) => line.observation ?? []), receipt.observations);
    assert.equal(mine.at(-1).verdict, receipt.verdict);
  }
});

test('mistakes are told', (t) => {
  const run = (...args) => spawnSync(program, args, { encoding: 'utf8' });
  const none = run('--cgroup', 'qp-no-such-group', '--exit-when-empty', '--out', temporaryFolder(t));
  assert.equal(none.status, 1);
  assert.match(none.stderr, /no cgroup matches/);
  assert.equal(run().status, 2);
  assert.equal(run('--cgroup', '/etc/*').status, 2);
  assert.equal(run('--cgroup', 'a/../b').status, 2);
  assert.equal(run('--cgroup', 'qp-none', '--ring-size', '100000', '--out', temporaryFolder(t)).status, 2);
  assert.match(run('--help').stdout, /--exit-when-empty/);
});
