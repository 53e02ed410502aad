// SPDX-License-Identifier: Apache-2.0
// A receipt is a function of its log alone: qp of another architecture, where char is unsigned
// and open's flags are other ones, makes the same bytes of what was recorded here.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { build, qp, receiptOf, temporaryFolder } from './lib/qp.mjs';
import { file, keys, linesOf, sealed, signedRun, verify } from './lib/signed.mjs';

const root = path.join(build, 'arm64/root');
const program = path.join(build, 'arm64/qp');
const EM_AARCH64 = 183;
const skip = os.arch() === 'arm64' ? 'this machine is an arm64 itself'
  : !fs.existsSync(root) && 'the libraries of arm64 could not be had (make deps-arm64)';

const foreign = (args) => qp(['-L', root, program, ...args], { program: 'qemu-aarch64' });

// Output, messages and exit code of both; what they were.
function assertAlike(args, what) {
  const here = qp(args);
  const there = foreign(args);
  assert.equal(there.stdout === here.stdout, true, `${what}: qp ${args.join(' ')} prints something else`);
  assert.equal(there.stderr, here.stderr, what);
  assert.equal(there.code, here.code, what);
  return here;
}

// Names that are no UTF-8, flags whose bits differ, a 32-bit call, refused calls, a signal.
const BUSY = `
cd /tmp && mkdir -p 'd/\u00fc "x"' && printf a > "d/$(printf '\\377\\001')" && ln -s ../etc l && mv l m && rm m
cat d 2>/dev/null; ls -R d > d/list; truncate -s 9 d/list; chmod 600 d/list; dd if=/dev/zero of=d/z bs=5 count=3 oflag=direct
cp /usr/bin/true d/brought && d/brought '' '\u00e9'; rm -r d; unshare -r true; mount -t tmpfs x /mnt
getent hosts data-4f6e6c79.arm.example; node -e 'process.env.QP_TOKEN; require("net").connect(80, "192.0.2.7", process.exit)'
sh -c 'kill -9 $$'; exit 3`;

const LOGS = {
  'a package that steals': ['run', 'fixture:thief'],
  'a package that speaks': ['run', 'fixture:netbenign'],
  'a command that does much': ['exec', '--', 'sh', '-c', BUSY],
};

test('the program is one of another architecture', { skip }, () => {
  assert.equal(fs.readFileSync(program).readUInt16LE(18), EM_AARCH64);
});

for (const [name, args] of Object.entries(LOGS)) {
  test(`the log of ${name} gives the same bytes on arm64`, { skip }, (t) => {
    const run = receiptOf(t, args);
    const replayed = foreign(['replay', run.log]);
    assert.equal(replayed.stdout === run.bytes, true, replayed.stderr);
    assert.equal(replayed.code, run.code);
    for (const rest of [['log'], ['log', '--text']]) assertAlike([...rest, run.log], name);
    assertAlike(['show', run.file], name);
    assertAlike(['rules', 'explain', run.file], name);
    const text = qp(['log', '--text', run.log]).stdout;
    assert.match(text, /O_RDONLY\|(O_LARGEFILE\|)?O_DIRECTORY|O_NOFOLLOW/, 'flags that have other bits on arm64');
  });
}

test('a log that was cut or changed gives the same bytes on arm64', { skip }, (t) => {
  const run = receiptOf(t, ['exec', '--', 'sh', '-c', 'echo a > /tmp/a; exit 1']);
  const bytes = fs.readFileSync(run.log);
  const raw = zlib.gunzipSync(bytes);
  for (const part of [0.1, 0.37, 0.62, 0.9, 0.999]) {
    assertAlike(['replay', file(t, bytes.subarray(0, bytes.length * part))], `cut at ${part}`);
    const changed = Buffer.from(raw);
    for (let at = Math.floor(raw.length * part); at < raw.length; at += 977) changed[at] ^= 0x80;
    const log = file(t, zlib.gzipSync(changed));
    assertAlike(['replay', log], `changed from ${part}`);
    assertAlike(['log', '--text', log], `changed from ${part}`);
  }
});

test('arm64 verifies what was signed here, and refuses it with the same words', { skip }, (t) => {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  const run = signedRun(folder, 'a', pair, ['run', 'fixture:quiet']);
  const other = signedRun(folder, 'b', pair, ['exec', '--', 'true']);
  const verdict = structuredClone(run.statement);
  verdict.predicate.verdict = 'review';
  const changes = {
    'as it is': {},
    'a forged verdict': { dsse: file(t, sealed(verdict, pair.privatePem)) },
    'another log': { log: other.log },
    'a broken chain': { bundle: file(t, `${linesOf(run.bundle).reverse().join('\n')}\n`) },
  };
  for (const [name, changed] of Object.entries(changes)) {
    const here = verify(run, pair, changed);
    assert.equal(here.code, name === 'as it is' ? 0 : 1, here.stderr);
    assertAlike(['verify', changed.dsse ?? run.dsse, '--pub', pair.pub, '--log', changed.log ?? run.log,
      '--bundle', changed.bundle ?? run.bundle, '--offline'], name);
  }
  assertAlike(['diff', path.join(run.out, 'receipt.json'), path.join(other.out, 'receipt.json'), '--json'], 'diff');
  const elsewhere = temporaryFolder(t);
  const made = path.join(elsewhere, 'foreign');
  assert.equal(foreign(['keygen', '--out', made]).code, 0);
  const there = { key: `${made}.key`, pub: `${made}.pub` };
  const signed = signedRun(elsewhere, 'c', there, ['exec', '--', 'true']);
  assert.equal(verify(signed, there).code, 0, 'a key that arm64 made signs here');
});
