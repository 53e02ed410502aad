// SPDX-License-Identifier: Apache-2.0
// The two tiers: the same workload gives the same observations, save that what the texts leave
// undetermined is decided by the kernel's objects. Where the kernel does not allow the better
// tier, that is said, and asking for it is refused; QP_TIER says that it must allow it.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { assertComplete, assertReplays, build, qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

const doctor = qp(['doctor']).stdout.match(/^ok   capture .*: tier (base|kernel-object)(?:; not kernel-object: (.+))?$/m);
const hasObjects = doctor?.[1] === 'kernel-object';
const FLIPS = 401;

function probe(t, tier, ...args) {
  const folder = temporaryFolder(t);
  fs.copyFileSync(path.join(build, 'probes', 'paths'), path.join(folder, 'paths'));
  const run = receiptOf(t, ['exec', '--tier', tier, '--in', folder, '--', './paths', ...args]);
  assert.equal(run.receipt.evidence.tier, tier);
  assert.equal(run.receipt.evidence.counters.events.lost, 0);
  assertReplays(run);
  return run.receipt;
}

// What an observation says of files, whoever made it and whenever.
function files(receipt) {
  return receipt.observations.filter((o) => o.kind.startsWith('file-') && o.actor === 'package')
    .map(({ kind, outcome, path, path2, call, errno, target }) => ({ kind, outcome, path, path2, call, errno, target }));
}

test('doctor says which tier it is and, of base, why', () => {
  assert.ok(doctor);
  assert.equal(hasObjects, doctor[2] === undefined);
  if (process.env.QP_TIER) assert.equal(doctor[1], process.env.QP_TIER);
});

test('the base tier can be asked for everywhere, and says what it cannot see', (t) => {
  const run = receiptOf(t, ['exec', '--tier', 'base', '--', 'true']);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.receipt.evidence.tier, 'base');
  assert.ok(run.receipt.knownLimitations.some((text) => text.includes('a difference makes the outcome undetermined')));
});

test('the kernel-object tier is had, or refused with the reason', (t) => {
  const out = path.join(temporaryFolder(t), 'out');
  const run = qp(['exec', '--tier', 'kernel-object', '--out', out, '--', 'true']);
  if (!hasObjects) {
    assert.equal(run.code, 3);
    assert.match(run.stderr, /the kernel-object tier is not to be had here: .+ --tier base does without it/);
    assert.equal(fs.existsSync(path.join(out, 'receipt.json')), false);
    return;
  }
  const receipt = JSON.parse(fs.readFileSync(path.join(out, 'receipt.json'), 'utf8'));
  assert.equal(run.code, 0, run.stderr);
  assert.equal(receipt.evidence.tier, 'kernel-object');
  assert.equal(receipt.knownLimitations.some((text) => text.includes('a difference makes the outcome undetermined')), false);
});

test('the same acts are the same observations, and nothing stays undetermined', (t) => {
  const base = probe(t, 'base', 'act');
  const places = files(base).map((o) => `${o.kind} ${o.path} ${o.outcome}`);
  assert.ok(places.includes('file-delete /work/plain undetermined') === false);
  assert.ok(places.some((text) => text.endsWith(' undetermined')));
  assert.equal(base.completeness['paths-resolved'].ok, false);
  if (!hasObjects) return;
  const better = probe(t, 'kernel-object', 'act');
  assertComplete(better);
  assert.equal(files(better).some((o) => o.outcome === 'undetermined'), false);
  const decided = (o) => (o.outcome === 'undetermined' ? { ...o, outcome: 'effected' } : o);
  assert.deepEqual(files(better), files(base).map(decided));
});

test('a path that is flipped during the call is never told wrong, and in the better tier exactly', (t) => {
  for (const tier of hasObjects ? ['base', 'kernel-object'] : ['base']) {
    const receipt = probe(t, tier, 'flip', String(FLIPS));
    const removed = receipt.logs.sandboxOutput.match(/^[ab]-\d{4}$/gm).map((name) => `/work/${name}`);
    const told = receipt.observations.filter((o) => o.kind === 'file-delete');
    assert.equal(removed.length, FLIPS);
    assert.deepEqual(told.filter((o) => o.outcome === 'effected' && !removed.includes(o.path)), []);
    if (tier === 'base') continue;
    assertComplete(receipt);
    assert.deepEqual(told.map((o) => o.path), removed);
  }
});
