// SPDX-License-Identifier: Apache-2.0
// Which variables a package asks for: seen in the C library, whoever calls it.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { assertComplete, assertReplays, observations, qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

const logLines = (run) => qp(['log', run.log]).stdout.trim().split('\n').map((line) => JSON.parse(line));
const ids = (receipt) => receipt.rulesFired.map((rule) => rule.id);
const names = (receipt) => observations(receipt, 'env-read').map((o) => o.name);
const heartbeat = (receipt) => receipt.completeness['instrumentation-heartbeat'].runs[0].detail;

test('envthief: asking for a token by name is rule c1, and nothing else', (t) => {
  const run = receiptOf(t, ['run', 'fixture:envthief']);
  const { receipt } = run;
  assert.equal(run.code, 10, run.stderr);
  assert.equal(receipt.verdict, 'review');
  assert.deepEqual(ids(receipt), ['c1']);
  assert.deepEqual(names(receipt), ['NPM_TOKEN']);
  const [read] = observations(receipt, 'env-read');
  assert.equal(read.package, 'qp-fixture-envthief');
  assert.equal(read.actor, 'package');
  assert.equal(read.outcome, null);
  assert.match(read.exe, /\/node$/);
  assert.match(run.stdout, /read the environment variable NPM_TOKEN\n/);
  assertComplete(receipt);
  assertReplays(run);
});

test('node is heard at each start, and what it asks for by itself is no evidence', (t) => {
  const run = receiptOf(t, ['run', 'fixture:quiet']);
  assert.equal(run.code, 0, run.stderr);
  assert.deepEqual(names(run.receipt), []);
  const heard = new Set(logLines(run).filter((r) => r.event === 'env').map((r) => r.tgid));
  assert.ok(heard.size >= heartbeat(run.receipt).nodeProcesses);
  assert.ok(heartbeat(run.receipt).nodeProcesses >= 2);
});

test('a native program that calls getenv is seen, once for each name, without any value', (t) => {
  const folder = temporaryFolder(t);
  const source = `
    #define _GNU_SOURCE
    #include <stdlib.h>
    int main(void)
    {
      setenv("DEPLOY_TOKEN", "value-of-the-token", 1);
      for (int i = 0; i < 100003; i++)
        getenv("DEPLOY_TOKEN");
      secure_getenv("SIGNING_SECRET");
      getenv("ASK_COLOR");
      return 0;
    }`;
  execFileSync('cc', ['-x', 'c', '-o', path.join(folder, 'ask'), '-'], { input: source });
  const run = receiptOf(t, ['exec', '--in', folder, '--', './ask']);
  assert.ok(ids(run.receipt).includes('c1'), run.stderr);
  assert.deepEqual(names(run.receipt), ['DEPLOY_TOKEN', 'SIGNING_SECRET', 'ASK_COLOR']);
  const reads = logLines(run).filter((r) => r.event === 'env' && JSON.stringify(r).includes('DEPLOY_TOKEN'));
  assert.equal(reads.length, 1);
  assert.ok(!logLines(run).some((r) => JSON.stringify(r).includes('value-of-the-token')));
  assert.equal(run.receipt.evidence.counters.events.lost, 0);
  assertReplays(run);
});

test('the reads of a program that is linked with musl are seen too', (t) => {
  const machine = process.arch === 'x64' ? 'x86_64' : 'aarch64';
  const musl = `/usr/lib/${machine}-linux-musl/libc.so`;
  if (!fs.existsSync(musl)) {
    assert.ok(!process.env.QP_MUST_RUN, 'musl is needed');
    t.skip('needs musl');
    return;
  }
  const folder = temporaryFolder(t);
  // Without any header or start file of musl: its package for programs has none.
  const source = `
    char *getenv(const char *);
    _Noreturn void _exit(int);
    void _start(void)
    {
      getenv("RELEASE_TOKEN");
      _exit(0);
    }`;
  execFileSync('cc', ['-x', 'c', '-w', '-O0', '-nostdlib', '-o', path.join(folder, 'ask'), '-',
    '-x', 'none', musl, `-Wl,--dynamic-linker=/lib/ld-musl-${machine}.so.1`], { input: source });
  const run = receiptOf(t, ['exec', '--in', folder, '--', './ask']);
  assert.deepEqual(ids(run.receipt), ['c1'], run.stderr);
  assert.deepEqual(names(run.receipt), ['RELEASE_TOKEN']);
  assert.equal(run.receipt.sandbox.exitCode, 0);
  assert.ok(run.receipt.sandbox.envLibraries.some((name) => name.includes('musl')));
  assertReplays(run);
});

test('a script that lists every variable asks for each of them', (t) => {
  const run = receiptOf(t, ['exec', '--', 'env', 'SERVICE_API_KEY=x', 'node', '-e', 'JSON.stringify(process.env)']);
  assert.ok(ids(run.receipt).includes('c1'), run.stderr);
  assert.ok(names(run.receipt).includes('SERVICE_API_KEY'));
});
