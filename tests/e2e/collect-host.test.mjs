// SPDX-License-Identifier: Apache-2.0
// qp-collect as a host runs it: without root, beside containers that others start.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { build, temporaryFolder } from './lib/qp.mjs';
import { assertBalanced, collect, freshName, makeGroup, program, readJson, readLog, runIn } from './lib/collect.mjs';

const NOBODY = 65534;
const RESOLVED = 4;
const CALLS = 1003;

// As the unit file says, so that it and the test cannot part.
function unitCapabilities() {
  const unit = fs.readFileSync('systemd/qp-collect.service', 'utf8');
  const bounding = unit.match(/^CapabilityBoundingSet=(.*)$/m)[1];
  assert.equal(unit.match(/^AmbientCapabilities=(.*)$/m)[1], bounding);
  return bounding.split(' ').map((name) => name.replace('CAP_', '').toLowerCase());
}

// Runs it as nobody with these capabilities on a group that works in a folder of root's alone.
async function unprivileged(t, capabilities) {
  const folder = temporaryFolder(t);
  fs.chmodSync(folder, 0o755);
  fs.mkdirSync(`${folder}/own`);
  fs.chownSync(`${folder}/own`, NOBODY, NOBODY);
  fs.copyFileSync(program, `${folder}/qp-collect`);
  fs.mkdirSync(`${folder}/private`, { mode: 0o700 });
  fs.mkdirSync(`${folder}/private/deep`);
  const set = ['-all', ...capabilities.map((name) => `+${name}`)].join(',');
  const name = freshName();
  const c = await collect(t, ['--cgroup', name], {
    program: 'setpriv', out: `${folder}/own/out`, metrics: `${folder}/own/metrics`,
    before: [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', `--inh-caps=${set}`,
      `--ambient-caps=${set}`, `--bounding-set=${set}`, '--no-new-privs', `${folder}/qp-collect`],
  });
  if (c.child.exitCode !== null) return { code: c.child.exitCode };
  const group = makeGroup(t, name);
  runIn(group, `sh -c 'mkdir ${folder}/private/deep/a; sleep 0.3; rmdir ${folder}/private/deep/a; sleep 0.3'`);
  const { code } = await c.stop();
  const records = readLog(c.logs(name)[0]);
  assertBalanced(records);
  const resolved = records.filter((r) => r.type === RESOLVED).map((r) => r.json);
  return {
    code,
    paths: resolved.filter((r) => r.path === `${folder}/private/deep/a`).length,
    failures: resolved.filter((r) => r.errno !== undefined).length,
  };
}

test('the capabilities of the unit are enough without root', async (t) => {
  assert.deepEqual(await unprivileged(t, unitCapabilities()), { code: 0, paths: 2, failures: 0 });
});

test('each capability of the unit is needed', async (t) => {
  const all = unitCapabilities();
  for (const left of all) {
    const result = await unprivileged(t, all.filter((name) => name !== left));
    assert.equal(result.code === 3 || result.paths < 2, true, `${left}: ${JSON.stringify(result)}`);
  }
});

// A root folder with nothing in it but a program that makes known calls.
function containerRoot(t) {
  const root = temporaryFolder(t);
  fs.chmodSync(root, 0o755);
  for (const folder of ['tmp', 'proc', 'dev', 'sys', 'etc', 'run']) fs.mkdirSync(path.join(root, folder));
  fs.copyFileSync(path.join(build, 'probes/calls'), path.join(root, 'calls'));
  return root;
}

const command = ['/calls', 'getppid', String(CALLS), 'open', '3'];

async function assertContainerIsRecorded(c, name) {
  const { code, stderr } = await c.stop();
  assert.equal(code, 0, stderr);
  const [log] = c.logs(name);
  const records = readLog(log);
  const counters = assertBalanced(records);
  assert.equal(records[0].json.joinedLate, false);
  assert.equal(counters.calls.getppid >= CALLS, true); // the runtime makes some too
  const receipt = readJson(c.receipts(name)[0]);
  assert.equal(receipt.completeness['kernel-trace'].ok, true);
  const mine = receipt.observations.filter((o) => o.exe === '/calls');
  assert.equal(mine.some((o) => o.kind === 'spawn'), true);
  assert.equal(mine.some((o) => o.kind === 'file-create' && o.path === '/tmp/opened'), true);
}

function skipWithout(program_) {
  const found = spawnSync(program_, ['--version'], { encoding: 'utf8' });
  return found.status === 0 ? false : `${program_} is not installed`;
}

test('a container that runc starts by hand is recorded', { skip: skipWithout('runc') }, async (t) => {
  const name = freshName();
  const bundle = temporaryFolder(t);
  assert.equal(spawnSync('runc', ['spec'], { cwd: bundle }).status, 0);
  const file = path.join(bundle, 'config.json');
  const config = readJson(file);
  Object.assign(config.process, { terminal: false, rlimits: [], args: command });
  config.root = { path: containerRoot(t), readonly: false };
  config.linux.cgroupsPath = `/${name}`;
  fs.writeFileSync(file, JSON.stringify(config));
  const c = await collect(t, ['--cgroup', name]);
  const run = spawnSync('runc', ['run', name], { cwd: bundle, stdio: ['ignore', 'pipe', 'pipe'] });
  assert.equal(run.status, 0, String(run.stderr));
  await assertContainerIsRecorded(c, name);
});

// The folders that podman leaves behind in each hierarchy.
function removeGroups(name) {
  const tops = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    .filter((line) => line.includes(' - cgroup')).map((line) => line.split(' ')[4]);
  for (const folder of tops.map((one) => path.join(one, name)).filter((one) => fs.existsSync(one))) {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) fs.rmdirSync(path.join(folder, entry.name));
    }
    fs.rmdirSync(folder);
  }
}

test('a container that podman starts is recorded', { skip: skipWithout('podman') }, async (t) => {
  const name = freshName();
  const c = await collect(t, ['--cgroup', name]);
  t.after(() => removeGroups(name));
  const run = spawnSync('podman', ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs', 'run', '--rm',
    '--network', 'none', '--cgroup-parent', `/${name}`, '--security-opt', 'seccomp=unconfined',
    '--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024', '--rootfs', containerRoot(t), ...command],
  { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  assert.equal(run.status, 0, String(run.stderr));
  await assertContainerIsRecorded(c, name);
});
