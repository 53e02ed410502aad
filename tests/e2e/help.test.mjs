// SPDX-License-Identifier: Apache-2.0
// --help of every command, and words that no command knows.
import test from 'node:test';
import assert from 'node:assert/strict';
import path from 'node:path';
import { build, qp } from './lib/qp.mjs';

test('qp --help names every command and the exit codes', () => {
  const run = qp(['--help']);
  assert.equal(run.code, 0);
  for (const name of ['run', 'exec', 'replay', 'show', 'diff', 'log', 'rules', 'doctor', 'bench']) {
    assert.match(run.stdout, new RegExp(`^  ${name}\\b`, 'm'));
    const help = qp([name, '--help']);
    assert.equal(help.code, 0, name);
    assert.equal(help.stderr, '');
    assert.match(help.stdout, new RegExp(`^Usage: qp ${name}`));
    assert.match(help.stdout, /^Example:$/m);
  }
  assert.match(run.stdout, /0 install, 10 review, 20 do-not-install/);
});

test('the other programs explain themselves', () => {
  for (const name of ['qp-collect', 'qp-sinkhole']) {
    const run = qp(['--help'], { program: path.join(build, name) });
    assert.equal(run.code, 0, name);
    assert.match(run.stdout, new RegExp(`^Usage: ${name}`));
  }
});

test('an unknown command, and none', () => {
  assert.equal(qp(['frobnicate']).code, 2);
  assert.match(qp(['frobnicate']).stderr, /unknown command 'frobnicate'/);
  assert.equal(qp([]).code, 2);
});

test('doctor finds this host able', () => {
  const run = qp(['doctor']);
  assert.equal(run.code, 0, run.stdout);
  assert.doesNotMatch(run.stdout, /^FAIL/m);
  assert.match(run.stdout, /capture .*tier (base|kernel-object)/);
});

test('replay, log and show refuse what is no evidence', () => {
  for (const command of ['replay', 'log', 'show']) {
    assert.equal(qp([command, 'Makefile']).code, 1, command);
    assert.equal(qp([command, 'no-such-file']).code, 1, command);
    assert.match(qp([command, 'no-such-file']).stderr, /no-such-file/);
  }
});
