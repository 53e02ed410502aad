// SPDX-License-Identifier: Apache-2.0
// docs/receipt.schema.json accepts the receipts of the older path and ours, and refuses
// what is broken. The validator is Python's jsonschema, none of our own.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { spawnSync } from 'node:child_process';
import { receiptOf } from './lib/qp.mjs';

const VALIDATE = `
import json, sys, jsonschema
work = json.load(sys.stdin)
validator = jsonschema.Draft202012Validator
validator.check_schema(work["schema"])
checker = validator(work["schema"])
json.dump([[f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in checker.iter_errors(item)]
           for item in work["items"]], sys.stdout)
`;

// Debian's package is of Debian's Python, which need not be the first of PATH.
const python = ['python3', '/usr/bin/python3'].find((name) =>
  spawnSync(name, ['-c', 'import jsonschema; jsonschema.Draft202012Validator']).status === 0);
const skip = python ? false : 'no Python with jsonschema (apt-get install python3-jsonschema)';

const schema = JSON.parse(fs.readFileSync('docs/receipt.schema.json', 'utf8'));
const seed = (name) => JSON.parse(fs.readFileSync(`tests/cases/receipts/seed-${name}.json`, 'utf8'));

function errorsOf(items) {
  const result = spawnSync(python, ['-c', VALIDATE], {
    input: JSON.stringify({ schema, items }), encoding: 'utf8', maxBuffer: 1 << 28,
  });
  assert.equal(result.status, 0, result.stderr);
  return JSON.parse(result.stdout);
}

test('the receipts of the older path are accepted', { skip }, () => {
  assert.deepEqual(errorsOf([seed('fastify'), seed('netbenign')]), [[], []]);
});

const breakages = {
  'another schema': (r) => { r.schema = 'qp-receipt/2'; },
  'no verdict': (r) => { delete r.verdict; },
  'a verdict that there is not': (r) => { r.verdict = 'fine'; },
  'install although a rule fired': (r) => { r.verdict = 'install'; },
  'install although a marker is false': (r) => {
    r.verdict = 'install';
    r.rulesFired = [];
    r.completeness['kernel-trace'].ok = false;
  },
  'install of a run that was not whole': (r) => {
    r.verdict = 'install';
    r.rulesFired = [];
    r.status = 'incomplete';
  },
  'review although the worst tier fired': (r) => { r.rulesFired[0].tier = 'do-not-install'; },
  'do-not-install without such a rule': (r) => { r.verdict = 'do-not-install'; },
  'a marker that is missing': (r) => { delete r.completeness['sinkhole-log']; },
  'a marker that there is not': (r) => { r.completeness.other = r.completeness['sinkhole-log']; },
  'a rule without observations': (r) => { r.rulesFired[0].observationIds = []; },
  'an observation id of another form': (r) => { r.observations[0].id = '1'; },
  'a kind that there is not': (r) => { r.observations[0].kind = 'net'; },
  'an outcome that there is not': (r) => { r.observations[0].outcome = 'blocked'; },
  'an observation without a path member': (r) => { delete r.observations[0].path; },
  'a spawn without arguments': (r) => { delete r.observations.find((o) => o.kind === 'spawn').argv; },
  'a port beyond the last': (r) => { r.observations[0].port = 65536; },
  'a nonce of another length': (r) => { r.nonce = r.nonce.slice(1); },
  'a time without its zone': (r) => { r.startedAt = r.startedAt.slice(0, -1); },
  'text where a number stands': (r) => { r.sandbox.seconds = '6.5'; },
  'no list of limitations': (r) => { r.knownLimitations = []; },
  'a member that nobody knows': (r) => { r.extra = true; },
  'a digest of another length': (r) => {
    r.evidence = { log: { sha256: 'ab', bytes: 1, records: 1 }, tier: 'base', counters: null };
  },
  'counters without the lost': (r) => {
    r.evidence = {
      log: { sha256: 'a'.repeat(64), bytes: 1, records: 1 },
      tier: 'base',
      counters: { syscalls: 1, events: { produced: 1, delivered: 1 }, calls: {} },
    };
  },
};

test('broken receipts are refused', { skip }, () => {
  const broken = Object.values(breakages).map((spoil) => {
    const receipt = seed('netbenign');
    spoil(receipt);
    return receipt;
  });
  const errors = errorsOf(broken);
  Object.keys(breakages).forEach((name, i) => assert.ok(errors[i].length > 0, `accepted: ${name}`));
});

test('the receipts of qp are accepted', { skip }, (t) => {
  const commands = [
    ['run', 'fixture:quiet'],
    ['run', 'fixture:netbenign'],
    ['run', 'fixture:canary'],
    ['run', 'fixture:gitdep'],
    ['exec', '--', 'sh', '-c', 'exit 3'],
  ];
  const receipts = commands.map((args) => receiptOf(t, args).receipt);
  const errors = errorsOf(receipts);
  commands.forEach((args, i) => assert.deepEqual(errors[i], [], args.join(' ')));
  for (const receipt of receipts) {
    assert.match(receipt.evidence.log.sha256, /^[0-9a-f]{64}$/);
    assert.ok(receipt.observations.every((o) => 'outcome' in o && 'package' in o && Number.isInteger(o.t)));
  }
});
