// SPDX-License-Identifier: Apache-2.0
// What goes wrong is told with cause and mend, has its exit code, and leaves nothing behind.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { assertNoTraces, build, ended, qp, qpProgram, start, temporaryFolder, waitFor } from './lib/qp.mjs';

// Runs qp with a fresh --out, expects the code and the words, and no files.
async function refused(t, args, code, words, options = {}) {
  const out = path.join(temporaryFolder(t), 'out');
  const run = qp([args[0], '--out', out, ...args.slice(1)], options);
  assert.equal(run.code, code, run.stderr);
  assert.match(run.stderr, words);
  assert.match(run.stderr, /^(\r.*)?qp: error: /m);
  assert.equal(fs.existsSync(out), false, 'the folder stays away');
  await assertNoTraces();
}

test('an unknown package', (t) => refused(t, ['run', 'qp-fixture-no-such-package-19@1.0.0'], 4, /no such package|not found/i));
test('a version that does not exist', (t) => refused(t, ['run', 'fastify@999.0.0'], 4, /999\.0\.0/));
test('a folder without package.json', (t) => refused(t, ['run', temporaryFolder(t)], 4, /package\.json/));
test('a corrupt tarball', (t) => {
  const file = path.join(temporaryFolder(t), 'broken.tgz');
  fs.writeFileSync(file, Buffer.from('1f8b0800000000000003ff00ff00ff', 'hex'));
  return refused(t, ['run', file], 4, /tarball|corrupt/i);
});
test('no network', (t) => refused(t, ['run', 'fastify@5.12.4'], 4, /network|reach|resolve/i,
  withoutNetwork()));

// A network namespace without links; qp() then runs `unshare -n qp ...`.
function withoutNetwork() {
  const wrapper = path.join(build, 'test-logs', 'qp-without-network');
  fs.mkdirSync(path.dirname(wrapper), { recursive: true });
  fs.writeFileSync(wrapper, `#!/bin/sh\nexec unshare -n ${qpProgram} "$@"\n`, { mode: 0o755 });
  return { program: wrapper };
}

test('junk for a number', (t) => refused(t, ['run', '--memory', 'abc', 'fixture:quiet'], 2, /--memory takes a size such as 256M, not 'abc'/));
test('a number out of range', (t) => refused(t, ['run', '--pids', '1', 'fixture:quiet'], 2, /--pids 1 is out of range/));
test('an unknown option', (t) => refused(t, ['run', '--frobnicate', 'fixture:quiet'], 2, /unknown option '--frobnicate'/));
test('an unknown fixture', (t) => refused(t, ['run', 'fixture:nosuch'], 2, /nosuch/));
test('a bad rule file', (t) => {
  const file = path.join(temporaryFolder(t), 'rules.json');
  fs.writeFileSync(file, '{"schema": "qp-rules/1",\n  "rulez": []}\n');
  return refused(t, ['run', '--rules', file, 'fixture:quiet'], 2, /rules\.json:2:\d+: .*rulez/);
});
test('no such runtime', (t) => refused(t, ['run', '--runtime', '/no/such/runtime', 'fixture:quiet'], 3, /\/no\/such\/runtime/));

test('no runtime at all', (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  const hide = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'].flatMap((folder) => ['runc', 'crun'].map((name) => `${folder}/${name}`))
    .filter((file) => fs.existsSync(file)).map((file) => `mount --bind /dev/null ${file}`);
  assert.notEqual(hide.length, 0);
  const run = spawnSync('unshare', ['-m', 'sh', '-c', `${hide.join(' && ')} && exec ${qpProgram} run --out ${out} fixture:quiet`], { encoding: 'utf8' });
  assert.equal(run.status, 3, run.stderr);
  assert.match(run.stderr, /no OCI runtime works here .*apt-get install runc/);
  assert.equal(fs.existsSync(out), false);
});

test('a reader that goes away does not take the receipt with it', (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  const run = spawnSync('sh', ['-c', `${qpProgram} exec --json --out ${out} -- true > /dev/full`], { encoding: 'utf8' });
  assert.equal(run.status, 1, run.stderr);
  assert.match(run.stderr, /cannot write the result: No space left on device/);
  assert.equal(qp(['replay', path.join(out, 'run.qplog')]).stdout, fs.readFileSync(path.join(out, 'receipt.json'), 'utf8'));
});

test('not root', async (t) => {
  const folder = temporaryFolder(t);
  fs.chmodSync(folder, 0o777);
  const copy = path.join(folder, 'build');
  fs.mkdirSync(copy);
  for (const name of ['qp', 'qp-init', 'qp-sinkhole', 'qp-collect']) fs.copyFileSync(path.join(build, name), path.join(copy, name));
  fs.cpSync(path.join(build, 'stage'), path.join(copy, 'stage'), { recursive: true });
  fs.cpSync('tests/fixtures/quiet', path.join(copy, 'fixtures/quiet'), { recursive: true });
  const run = qp(['run', '--out', path.join(folder, 'out'), 'fixture:quiet'],
    { program: path.join(copy, 'qp'), uid: 65534, gid: 65534, cwd: folder });
  assert.equal(run.code, 3, run.stderr);
  assert.match(run.stderr, /qp must be root/);
});

test('no BTF: the kernel file hidden', (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  const run = spawnSync('unshare', ['-m', 'sh', '-c',
    `mount -t tmpfs none /sys/kernel/btf && exec ${qpProgram} run --out ${out} fixture:quiet`], { encoding: 'utf8' });
  assert.equal(run.status, 3, run.stderr);
  assert.match(run.stderr, /BTF/);
  assert.equal(fs.existsSync(out), false);
});

test('a read-only output folder', (t) => {
  const folder = temporaryFolder(t);
  const run = spawnSync('unshare', ['-m', 'sh', '-c',
    `mount -t tmpfs -o ro none ${folder} && exec ${qpProgram} run --out ${folder}/out fixture:quiet`], { encoding: 'utf8' });
  assert.equal(run.status, 1, run.stderr);
  assert.match(run.stderr, /Read-only file system.*--out/);
});

test('a full disk', async (t) => {
  const folder = temporaryFolder(t);
  const run = spawnSync('unshare', ['-m', 'sh', '-c',
    `mount -t tmpfs -o size=16k none ${folder} && ${qpProgram} run --out ${folder}/out fixture:netbenign; code=$?; ls -A ${folder}; exit $code`],
    { encoding: 'utf8' });
  assert.equal(run.status, 1, run.stderr);
  assert.match(run.stderr, /No space left on device.*free some space/);
  assert.equal(run.stdout.trim(), '', 'nothing is left on the full disk');
  await assertNoTraces();
});

test('a second run with the same --out', (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  assert.equal(qp(['exec', '--out', out, '--', 'true']).code, 0);
  const before = fs.readFileSync(path.join(out, 'receipt.json'), 'utf8');
  const second = qp(['exec', '--out', out, '--', 'true']);
  assert.equal(second.code, 2);
  assert.match(second.stderr, /holds files already.*new or an empty folder/);
  assert.equal(fs.readFileSync(path.join(out, 'receipt.json'), 'utf8'), before);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`${signal} in the middle of the sandbox leaves nothing`, async (t) => {
    const out = path.join(temporaryFolder(t), 'out');
    const child = start(['exec', '--out', out, '--', 'sleep', '30']);
    const end = ended(child);
    await waitFor(() => inSandbox('sleep'), 'the command to run');
    child.kill(signal);
    const { code } = await end;
    assert.equal(code, signal === 'SIGINT' ? 130 : 143);
    assert.equal(fs.existsSync(out), false);
    await assertNoTraces();
  });
}

test('killed at any moment, it leaves nothing on the host', async (t) => {
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    for (const ms of [1, 3, 7, 13, 23, 41, 67, 97, 149, 211, 307, 401]) {
      const out = path.join(temporaryFolder(t), 'out');
      const child = start(['exec', '--quiet', '--out', out, '--', 'sleep', '0.3']);
      const end = ended(child);
      await new Promise((resolve) => setTimeout(resolve, ms));
      child.kill(signal);
      const { code, signal: by, stderr } = await end;
      assert.ok(by === signal || code === 143, `after ${ms} ms: ${code} ${by} ${stderr}`);
      if (signal === 'SIGTERM') assert.equal(fs.existsSync(out), false);
    }
  }
  await assertNoTraces();
});

test('SIGKILL of qp: the janitor sweeps', async (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  const child = start(['exec', '--out', out, '--', 'sleep', '31']);
  const end = ended(child);
  await waitFor(() => inSandbox('sleep'), 'the command to run');
  child.kill('SIGKILL');
  await end;
  await assertNoTraces();
});

test('a sinkhole that dies makes the run incomplete, never install', async (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  const child = start(['exec', '--out', out, '--', 'sleep', '32']);
  const end = ended(child);
  await waitFor(() => inSandbox('sleep'), 'the command to run');
  const sinkhole = childOf(child.pid, 'qp-sinkhole');
  process.kill(sinkhole, 'SIGKILL');
  const { code, stderr } = await end;
  assert.equal(code, 10, stderr);
  const receipt = JSON.parse(fs.readFileSync(path.join(out, 'receipt.json'), 'utf8'));
  assert.equal(receipt.verdict, 'review');
  assert.equal(receipt.completeness['sinkhole-log'].ok, false);
  await assertNoTraces();
});

test('a sandbox that is killed: what it had sent is recorded and judged', async (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  // One request that was answered, and a connection that still says something when the end comes.
  const client = `const net = require('net');
    require('http').get('http://198.51.100.77/before', (answer) => answer.resume().on('end', () => {
      const open = net.connect(4321, '203.0.113.5', () => open.write('half a word', () => {
        require('child_process').spawn('sleep', ['33'], { stdio: 'ignore' });
      }));
    }));`;
  const child = start(['exec', '--out', out, '--', 'node', '-e', client]);
  const end = ended(child);
  const sleeper = await waitFor(() => inSandbox('sleep'), 'the command to run');
  const init = processes().find(({ comm, cgroup }) => comm === 'init' && cgroup === sleeper.cgroup);
  process.kill(init.pid, 'SIGKILL');
  const { code, stderr } = await end;
  assert.equal(code, 20, stderr); // rule d: it sent data
  const receipt = JSON.parse(fs.readFileSync(path.join(out, 'receipt.json'), 'utf8'));
  assert.equal(receipt.verdict, 'do-not-install');
  assert.equal(receipt.completeness['ended-normally'].ok, false);
  assert.equal(receipt.completeness['sinkhole-log'].ok, true);
  const { sinkholeLog } = receipt.network;
  assert.deepEqual(sinkholeLog.map(({ dstIp, path: place, bytesReceived }) => [dstIp, place ?? null, bytesReceived > 0]),
    [['198.51.100.77', '/before', true], ['203.0.113.5', null, true]]);
  await assertNoTraces();
});

function processes() {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      const after = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [{
        pid: Number(pid), ppid: Number(after[1]), comm: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
        cgroup: fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8'),
      }];
    } catch {
      return [];
    }
  });
}

function inSandbox(comm) {
  return processes().find((p) => p.comm === comm && /\/qp-sandbox-/.test(p.cgroup));
}

function childOf(pid, comm) {
  return processes().find((p) => p.ppid === pid && p.comm === comm).pid;
}
