// SPDX-License-Identifier: Apache-2.0
// qp log --text: what the kernel told, in strace's words; strace itself says what they are.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

const LINE = /^(# .*|\d+ +-?\d+\.\d{6} ((\w+\(.*\) += |<\.\.\. \w+ resumed>.*\) += )(-?\d+|0x[0-9a-f]+|\?).*|\w+\(.*<unfinished \.\.\.>|\+\+\+ .* \+\+\+))$/;

// "PID TIME call" of either, without the pid and the time, interrupted calls put together.
function calls(text) {
  const unfinished = new Map();
  const found = [];
  for (const line of text.split('\n')) {
    const [, pid, call] = /^(\d+) +(?:[\d.]+ )?(.*)$/.exec(line) ?? [];
    if (!call) continue;
    if (call.endsWith(' <unfinished ...>')) {
      unfinished.set(pid, call.slice(0, -' <unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call);
    const whole = resumed ? unfinished.get(pid) + resumed[1] : call;
    // strace aligns results, and shows the folder behind AT_FDCWD where the log has none.
    found.push(whole.replace(/\) += /, ') = ').replaceAll(/AT_FDCWD<[^>]*>/g, 'AT_FDCWD'));
  }
  return found;
}

test('lines are those that strace prints for the same commands', (t) => {
  const folder = temporaryFolder(t);
  const trace = path.join(folder, 'trace');
  const name = path.basename(folder);
  const script = `cd /tmp && mkdir ${name}.d && mkdir -m 700 '${name}.d/a "b' && mkdir ${name}.d; rmdir ${name}.d/none; `
    + `ln -s "x\ty" ${name}.d/l; mv ${name}.d/l ${name}.d/m; chmod 640 ${name}.d/none; rm ${name}.d/m; `
    + `rmdir '${name}.d/a "b' ${name}.d; /usr/bin/true 'ünï' ''; sh -c 'exit 3'; sh -c 'kill -9 $$'`;
  const command = ['sh', '-c', script];
  const traced = spawnSync('strace', ['-f', '-o', trace, '-e', 'trace=mkdir,rmdir,symlinkat,symlink,unlinkat', ...command],
    { encoding: 'utf8', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } });
  if (traced.error || !fs.existsSync(trace)) return t.skip(`strace does not run here: ${traced.error ?? traced.stderr}`);

  const run = receiptOf(t, ['exec', '--', ...command]);
  const log = qp(['log', '--text', run.log]);
  assert.equal(log.code, 0, log.stderr);
  for (const line of log.stdout.split('\n').slice(0, -1)) assert.match(line, LINE);
  const ours = calls(log.stdout);
  const theirs = calls(fs.readFileSync(trace, 'utf8'));
  assert.ok(theirs.length >= 12, theirs.join('\n'));
  for (const call of theirs.filter((one) => !/^(---|\+\+\+ exited)/.test(one))) {
    assert.ok(ours.includes(call), `${call} is not among\n${ours.filter((one) => one.includes(name)).join('\n')}`);
  }
  for (const end of ['+++ exited with 3 +++', '+++ killed by SIGKILL +++']) {
    assert.ok(theirs.includes(end) && ours.includes(end), end);
  }
  assert.ok(ours.some((one) => one.startsWith('execve("/usr/bin/true"<') && one.endsWith('["/usr/bin/true", "\\303\\274n\\303\\257", ""]) = 0')));
  return undefined;
});

test('a line for each record, comments for what is no kernel event', (t) => {
  const run = receiptOf(t, ['run', 'fixture:netbenign']);
  const text = qp(['log', '--text', run.log]);
  const json = qp(['log', run.log]);
  assert.equal(text.code, 0, text.stderr);
  const lines = text.stdout.split('\n').slice(0, -1);
  const records = json.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  assert.equal(lines.length, records.length);
  records.forEach((record, i) => {
    const comment = record.type !== 'event' || ['sockaddr', 'env', 'object', 'move'].includes(record.event);
    assert.equal(lines[i].startsWith('# '), comment, lines[i]);
    if (record.type !== 'event') assert.equal(lines[i].split(' ')[1], record.type);
  });
  assert.match(text.stdout, /^# phase "rebuild" "begin" /m);
  assert.match(text.stdout, /^# sinkhole \{.*"name":"downloads\.qp-fixture\.example"/m);
  assert.match(text.stdout, /execve\("\/usr\/bin\/sh"<\/usr\/bin\/\w+>, \["sh", "-c", "node check\.js"\]\) = 0$/m);
  assert.match(text.stdout, /connect\(\d+<TCP:\[[\d.]+:\d+->198\.18\.\d+\.\d+:80\]>, \{sa_family=AF_INET, sin_port=htons\(80\), /);
});

test('a log that was cut is printed as far as it goes', (t) => {
  const run = receiptOf(t, ['exec', '--', 'true']);
  const bytes = fs.readFileSync(run.log);
  const cut = path.join(run.out, 'cut.qplog');
  fs.writeFileSync(cut, bytes.subarray(0, bytes.length - 64));
  const text = qp(['log', '--text', cut]);
  assert.equal(text.code, 1);
  assert.match(text.stderr, /cut or damaged/);
  assert.match(text.stdout, /^# preamble /);
  assert.equal(qp(['log', '--text']).code, 2);
});
