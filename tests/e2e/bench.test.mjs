// SPDX-License-Identifier: Apache-2.0
// qp bench measures; whether it is fast enough is nothing that a test can tell.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { assertNoTraces, qp } from './lib/qp.mjs';

const hasStrace = spawnSync('strace', ['-V']).status === 0;

test('one round of getppid gives a number for every way of watching', { skip: !hasStrace && 'strace is not installed' }, async () => {
  const run = qp(['bench', '--rounds', '1', 'getppid', '--json', '--quiet']);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.stderr, '');
  const report = JSON.parse(run.stdout);
  assert.equal(report.schema, 'qp-bench/1');
  assert.equal(report.hostBefore.load.length, 3);
  assert.equal(report.benchmarks.length, 1);
  const [bench] = report.benchmarks;
  assert.equal(bench.benchmark, 'getppid');
  assert.equal(bench.rounds, 1);
  const names = bench.series.map((series) => series.name);
  assert.deepEqual(names, ['untraced', 'untraced, CPU time', 'observed', 'observed, CPU time', 'observed, lost',
    'outside, attached', 'outside, attached, CPU time', 'strace -f', 'strace -f, one CPU']);
  for (const series of bench.series.filter(({ unit }) => unit === 'ns')) {
    assert.equal(series.values.length, 1);
    assert.ok(series.median > 0, series.name);
    assert.ok(series.min <= series.median && series.median <= series.max);
    assert.equal(series.ratioTo, 'untraced');
  }
  assert.equal(bench.series[0].ratio, 1);
  await assertNoTraces();
});

// The benchmark itself fails when an attempt is neither recorded nor counted as lost, or a record is torn.
test('a loaded sinkhole misses nothing and keeps within its memory', async () => {
  const run = qp(['bench', 'sinkhole', '--rounds', '1', '--load', '10', '--json', '--quiet']);
  assert.equal(run.code, 0, run.stderr);
  const [{ series }] = JSON.parse(run.stdout).benchmarks;
  const value = (name) => series.find((s) => s.name === name).values[0];
  const wanted = { connections: 1000, slow: 500, 'half-open': 1000, junk: 16, queries: 10000, 'query burst': 10000,
    datagrams: 200, 'HTTP/1.1': 5000, 'HTTP/2': 5000 };
  for (const [name, attempts] of Object.entries(wanted)) {
    assert.equal(value(`${name}: attempts`), attempts);
    assert.equal(value(`${name}: records`) + value(`${name}: lost`), attempts, name);
    assert.ok(value(`${name}: peak memory`) > 0 && value(`${name}: peak memory`) < 160, name);
  }
  for (const name of ['connections', 'slow', 'half-open', 'junk', 'queries', 'HTTP/1.1', 'HTTP/2'])
    assert.equal(value(`${name}: lost`), 0, name);
  for (const name of ['connections', 'queries', 'junk', 'HTTP/1.1', 'HTTP/2'])
    assert.ok(value(`${name}: rate`) > 0, name);
  await assertNoTraces();
});

test('a benchmark nobody knows, and a count that is none', () => {
  const unknown = qp(['bench', 'getpid']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no benchmark 'getpid'/);
  assert.equal(qp(['bench', '--rounds', '0', 'getppid']).code, 2);
  const help = qp(['bench', '--help']);
  assert.equal(help.code, 0);
  for (const name of ['getppid', 'open-close', 'fork-exec', 'outside', 'flood', 'attach', 'sandbox', 'run', 'replay', 'sinkhole']) {
    assert.match(help.stdout, new RegExp(`^  ${name} `, 'm'));
  }
});
