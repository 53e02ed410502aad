// SPDX-License-Identifier: Apache-2.0
// Runs rows of client commands in one sandbox, and tells what the sinkhole recorded of each.
import fs from 'node:fs';
import path from 'node:path';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { temporaryFolder, receiptOf } from './qp.mjs';

// So many at once: most of them wait most of the time.
const AT_ONCE = 6;
const SECONDS_EACH = 60;

const PLACES = ['/usr/local/bin', '/usr/bin'];
export const isThere = (program) => PLACES.some((place) => fs.existsSync(path.join(place, program)));

export const sha256 = (text) => createHash('sha256').update(text).digest('hex');
export const BODY = 'x'.repeat(5003);
const PRELUDE = `PATH=${PLACES.join(':')}; cd /work; exec 2>&1\n`;

// Gives each row what it printed, `output`, its exit status, `got`, and `claimed`, its records.
export function runClients(t, rows, args = []) {
  const folder = temporaryFolder(t);
  rows.forEach((row, i) => fs.writeFileSync(path.join(folder, `${i}.sh`), PRELUDE + row.run));
  fs.writeFileSync(path.join(folder, 'body'), BODY);
  const all = `mkdir /tmp/o; ls | grep 'sh$' | xargs -P ${AT_ONCE} -I{} sh -c ` +
    `'timeout ${SECONDS_EACH} sh {} >/tmp/o/{} </dev/null; echo $? >/tmp/o/{}.exit'; ` +
    'cd /tmp/o; for f in *.sh; do echo "== $f $(cat $f.exit)"; head -c 4000 $f; echo; done';
  const run = receiptOf(t, ['exec', '--in', folder, '--seconds', '300', '--cpus', '2', '--memory', '1G',
    '--pids', '512', ...args, '--', 'sh', '-c', all]);
  for (const part of run.receipt.logs.sandboxOutput.split(/^== /m).slice(1)) {
    const [, at, exit, output] = part.match(/^(\d+)\.sh (\d+)\n([^]*)\n/);
    Object.assign(rows[Number(at)], { got: Number(exit), output, claimed: [] });
  }
  return { ...run, free: run.receipt.network.sinkholeLog.slice() };
}

// Regular expressions stand for texts, undefined for anything, null for what is not there.
function fits(value, wanted) {
  if (wanted === undefined) return true;
  if (wanted instanceof RegExp) return typeof value === 'string' && wanted.test(value);
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && value.length === wanted.length && wanted.every((item, i) => fits(value[i], item));
  }
  return isDeepStrictEqual(value ?? null, wanted);
}

const matches = (record, wanted) => Object.entries(wanted).every(([key, value]) => fits(record[key], value));

// Takes the record that is @wanted from those that no row has claimed yet.
export function claim(run, row, wanted) {
  const at = run.free.findIndex((record) => matches(record, wanted));
  if (at < 0) {
    const near = run.free.filter((r) => ['name', 'dstName', 'dstIp'].some((key) => wanted[key] && wanted[key] === r[key]));
    assert.fail(`no record ${JSON.stringify(wanted)}\nbut ${JSON.stringify(near, null, 1)}\n${row.output}`);
  }
  const [record] = run.free.splice(at, 1);
  row.claimed.push(record);
  return record;
}

// Addresses of @host may be asked for as often as the client likes, but at least once.
export function claimLookups(run, row, host) {
  const mine = (record) => record.type === 'dns' && record.name === host && [1, 28].includes(record.qtype);
  const found = run.free.filter(mine);
  assert.ok(found.length, `${host} was not looked up: ${row.output}`);
  row.claimed.push(...found);
  run.free = run.free.filter((record) => !mine(record));
}

// What the observation of a record must have, beside destination and program.
const OBSERVED = {
  dns: (o, record) => o.queries.some((q) => q.name === record.name && q.qtype === record.qtype),
  tcp: (o, record) => o.dest === (record.dstName ?? record.dstIp) && o.proto === record.protocol,
  udp: (o, record) => o.dest === (record.dstName ?? record.dstIp) && o.bytes === record.bytes,
};

// What the kernel saw of a record: same destination, and the program that was run.
export function assertObserved(run, row, record) {
  const fitting = OBSERVED[record.type];
  if (!fitting) return;
  const at = record.dstIp.includes(':') ? `[${record.dstIp}]:${record.dstPort}` : `${record.dstIp}:${record.dstPort}`;
  const seen = run.receipt.observations.filter((o) => o.kind === `net-${record.type}` && o.orig_dest === at);
  const found = seen.some((o) => row.exe.test(o.exe) && o.actor === 'package' && o.sinkholeLogged && fitting(o, record));
  assert.ok(found, `nothing observed of ${JSON.stringify(record)}\nbut ${JSON.stringify(seen, null, 1)}`);
}
