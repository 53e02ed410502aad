// SPDX-License-Identifier: Apache-2.0
// A receipt is a function of its log alone: not of locale, time zone, folder, user, time or
// memory allocator.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

test('replay gives the same bytes whatever surrounds it', (t) => {
  const run = receiptOf(t, ['run', 'fixture:thief']);
  const folder = temporaryFolder(t);
  const log = path.join(folder, 'copy.qplog');
  fs.copyFileSync(run.log, log);
  fs.chmodSync(folder, 0o755);
  fs.chmodSync(log, 0o644);
  const jemalloc = fs.readdirSync('/usr/lib').filter((name) => name.endsWith('-linux-gnu'))
    .map((name) => path.join('/usr/lib', name, 'libjemalloc.so.2')).filter((file) => fs.existsSync(file));
  assert.equal(jemalloc.length > 0, true, 'libjemalloc2 is installed by make check');
  const surroundings = {
    'another locale': { env: { LC_ALL: 'tr_TR.UTF-8', LANG: 'de_DE' } },
    'another time zone': { env: { TZ: 'Asia/Kathmandu' } },
    'no environment': { env: {} },
    'another folder': { cwd: '/' },
    'memory that is never zero': { env: { MALLOC_PERTURB_: '165' } },
    'many arenas': { env: { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.mmap_threshold=1' } },
    'another allocator': { env: { LD_PRELOAD: jemalloc[0] } },
  };
  for (const [name, options] of Object.entries(surroundings)) {
    const again = qp(['replay', log], options);
    assert.equal(again.stdout === run.bytes, true, `${name}: ${again.stderr}`);
  }
});
