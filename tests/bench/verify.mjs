// SPDX-License-Identifier: Apache-2.0
// How long qp verify takes for logs of a million records, on the clock and of processor time
// (on a busy machine only the latter says something), with 200 MiB of address space:
//
//     QP_BUILD=build node tests/bench/verify.mjs [ROUNDS]
//
// Two real runs are recorded and signed: one file opened and closed again and again, and files
// of ever new names written, renamed and removed, for which the log holds look-ups as well.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { build, qpProgram } from '../e2e/lib/qp.mjs';
import { keys, signedRun } from '../e2e/lib/signed.mjs';

const rounds = Number(process.argv[2] ?? 5);
const ADDRESS_SPACE_KIB = 200 * 1024;
const CHURN = `const fs = require('node:fs');
for (let i = 0; i < Number(process.argv[2]); i++) {
  const name = '/tmp/f-' + i + '-' + 'x'.repeat(i % 40);
  fs.writeFileSync(name, 'a');
  fs.renameSync(name, name + '.b');
  fs.unlinkSync(name + '.b');
}`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'qp-bench-'));
try {
  const pair = keys(folder);
  const inside = path.join(folder, 'in');
  fs.mkdirSync(inside);
  fs.copyFileSync(path.join(build, 'probes', 'calls'), path.join(inside, 'calls'));
  fs.chmodSync(path.join(inside, 'calls'), 0o755);
  fs.writeFileSync(path.join(inside, 'churn.js'), CHURN);
  const workloads = {
    'one file': ['./calls', 'open', '1000003'],
    'new names': ['node', 'churn.js', '240007'],
  };
  for (const [name, command] of Object.entries(workloads)) {
    const run = signedRun(folder, name.replace(' ', '-'), pair, ['exec', '--quiet', '--seconds', '600', '--in', inside, '--', ...command]);
    const { log, counters } = run.receipt.evidence;
    const seconds = [];
    const busy = [];
    for (let i = 0; i < rounds; i++) {
      const begun = process.hrtime.bigint();
      const result = spawnSync('sh', ['-c', `ulimit -v ${ADDRESS_SPACE_KIB}; "$@" && times`, 'sh',
        qpProgram, 'verify', run.dsse, '--pub', pair.pub, '--log', run.log, '--bundle', run.bundle], { encoding: 'utf8' });
      if (result.status !== 0) throw new Error(result.stderr);
      seconds.push(Number(process.hrtime.bigint() - begun) / 1e9);
      // The last line of the shell's times: user and system time of its children.
      busy.push([...result.stdout.trim().split('\n').at(-1).matchAll(/(\d+)m([\d.]+)s/g)]
        .reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0));
    }
    for (const list of [seconds, busy]) list.sort((a, b) => a - b);
    console.log(`${name}: ${counters.events.delivered} events of ${counters.events.produced}, ${log.records} records, ${log.bytes} bytes; ` +
      `verified in ${seconds[rounds >> 1].toFixed(2)} s (median of ${rounds}, ${seconds[0].toFixed(2)} to ${seconds.at(-1).toFixed(2)}), processor time ${busy[rounds >> 1].toFixed(2)} s, within 200 MiB`);
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
