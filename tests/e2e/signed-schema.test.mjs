// SPDX-License-Identifier: Apache-2.0
// docs/statement.schema.json accepts what qp signs and refuses what it would never sign. The
// validator is Python's jsonschema, none of our own.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { spawnSync } from 'node:child_process';
import { temporaryFolder } from './lib/qp.mjs';
import { keys, signedRun } from './lib/signed.mjs';

const VALIDATE = `
import json, sys, jsonschema
work = json.load(sys.stdin)
jsonschema.Draft202012Validator.check_schema(work["schema"])
checker = jsonschema.Draft202012Validator(work["schema"])
json.dump([["/".join(map(str, e.absolute_path)) + ": " + e.message[:300] for e in checker.iter_errors(item)]
           for item in work["items"]], sys.stdout)
`;
const python = ['python3', '/usr/bin/python3'].find((name) =>
  spawnSync(name, ['-c', 'import jsonschema; jsonschema.Draft202012Validator']).status === 0);
const skip = python ? false : 'no Python with jsonschema (apt-get install python3-jsonschema)';
const schema = JSON.parse(fs.readFileSync('docs/statement.schema.json', 'utf8'));

function errorsOf(items) {
  const result = spawnSync(python, ['-c', VALIDATE], {
    input: JSON.stringify({ schema, items }), encoding: 'utf8', maxBuffer: 1 << 28,
  });
  assert.equal(result.status, 0, result.stderr);
  return JSON.parse(result.stdout);
}

const breakages = {
  'another type': (s) => { s._type = 'https://in-toto.io/Statement/v0.1'; },
  'another predicate': (s) => { s.predicateType = 'https://qp.example/receipt/v2'; },
  'no log among the subjects': (s) => { s.subject.splice(s.subject.findIndex((x) => x.name === 'run.qplog'), 1); },
  'two records among the subjects': (s) => { s.subject = [s.subject.at(-1), s.subject.at(-1), s.subject.at(-2)]; },
  'a digest of another length': (s) => { s.subject.at(-1).digest.sha256 += '0'; },
  'a digest in capitals': (s) => { s.subject.at(-1).digest.sha256 = 'A'.repeat(64); },
  'no side': (s) => { delete s.predicate.monitorLog.fileAccess[0].annotations.outcome; },
  'a side that there is not': (s) => { s.predicate.monitorLog.fileAccess[0].annotations.outcome = 'blocked'; },
  'one observation twice on a side': (s) => { s.predicate.actors[0].effected = ['o1', 'o1']; },
  'an actor that there is not': (s) => { s.predicate.actors[0].actor = 'root'; },
  'no completeness': (s) => { delete s.predicate.complete; },
  'install of what was not seen whole': (s) => { s.predicate.verdict = 'install'; s.predicate.complete = false; },
  'no limitations': (s) => { s.predicate.knownLimitations = []; },
  'a member that nobody knows': (s) => { s.predicate.extra = 1; },
};

test('the statements of packages, commands, refusals and unfinished runs are accepted', { skip }, (t) => {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  const runs = [
    ['run', 'fixture:netbenign'], ['run', 'fixture:canary'], ['run', 'fixture:gitdep'],
    ['exec', '--', 'sh', '-c', 'echo > /tmp/x; echo > /etc/x; getent hosts a.example'],
    ['exec', '--seconds', '1', '--', 'sleep', '20'],
  ].map((args, i) => signedRun(folder, `run-${i}`, pair, args));
  assert.deepEqual(errorsOf(runs.map((run) => run.statement)), runs.map(() => []));
  assert.deepEqual(runs.map((run) => run.statement.predicate.complete), [true, true, false, true, false]);
  const broken = Object.values(breakages).map((change) => {
    const statement = structuredClone(runs[3].statement);
    change(statement);
    return statement;
  });
  errorsOf(broken).forEach((errors, i) => assert.notDeepEqual(errors, [], Object.keys(breakages)[i]));
});
