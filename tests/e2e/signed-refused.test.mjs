// SPDX-License-Identifier: Apache-2.0
// What qp verify refuses, each with its exact message. Where an attack needs the right key,
// it has the right key.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { canonical, file, keys, linesOf, opened, payloadOf, RECORD, sealed, sha256, signedRun, verify } from './lib/signed.mjs';

let folder;
let pair;
let other; // keys of somebody else
let one;
let two; // another run, in the same bundle
let cut; // a run that was not seen whole

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'qp-e2e-'));
  pair = keys(folder);
  other = keys(folder, 'other');
  one = signedRun(folder, 'one', pair, ['exec', '--', 'sh', '-c', 'echo > /tmp/x; getent hosts a.example; true']);
  two = signedRun(folder, 'two', pair, ['exec', '--', 'true']);
  cut = signedRun(folder, 'cut', pair, ['exec', '--seconds', '1', '--', 'sleep', '20']);
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

function refused(result, message) {
  assert.equal(result.stderr, `qp: error: refused: ${message}\n`);
  assert.equal(result.code, 1);
  assert.doesNotMatch(result.stdout, /^claim/m);
}

const keyid = (of) => of.envelope.signatures[0].keyid;
const copy = (value) => structuredClone(value);

// The statement of the first run, changed and signed again with the right key.
function resigned(t, change, run = one) {
  const statement = copy(run.statement);
  change(statement);
  return file(t, sealed(statement, pair.privatePem));
}

test('the runs that the attacks start from verify', () => {
  for (const run of [one, two, cut]) assert.equal(verify(run, pair).code, 0);
});

test('another log', () => {
  refused(verify(one, pair, { log: two.log }),
    `log: the statement is about log ${sha256(fs.readFileSync(one.log))}, the log given is ${sha256(fs.readFileSync(two.log))}`);
});

test('one byte changed in the log, wherever it is', (t) => {
  const bytes = fs.readFileSync(one.log);
  for (const at of [0, 9, 100, bytes.length >> 1, bytes.length - 5]) {
    const changed = Buffer.from(bytes);
    changed[at] ^= 0x20;
    refused(verify(one, pair, { log: file(t, changed) }),
      `log: the statement is about log ${sha256(bytes)}, the log given is ${sha256(changed)}`);
  }
});

test('a truncated log', (t) => {
  const bytes = fs.readFileSync(one.log);
  const shorter = bytes.subarray(0, bytes.length - 1);
  refused(verify(one, pair, { log: file(t, shorter) }),
    `log: the statement is about log ${sha256(bytes)}, the log given is ${sha256(shorter)}`);
});

test('one byte changed in the signed receipt', (t) => {
  const payload = payloadOf(one.envelope);
  for (const at of [0, payload.length >> 1, payload.length - 1]) {
    const changed = Buffer.from(payload);
    changed[at] ^= 1;
    refused(verify(one, pair, { dsse: file(t, { ...one.envelope, payload: changed.toString('base64') }) }),
      `signature: /signatures/0/sig: this is not a signature of key ${keyid(one)} over these bytes`);
  }
});

test('an observation deleted from the receipt', (t) => {
  const { observations } = one.receipt;
  const last = observations.length - 1;
  refused(verify(one, pair, { dsse: resigned(t, (s) => s.predicate.receipt.observations.pop()) }),
    `claim: /predicate/receipt/observations/${last}: the statement says nothing, the evidence an object`);
  const dns = one.statement.predicate.monitorLog.network.findIndex((n) => n.hostname === 'a.example');
  assert.equal(dns, one.statement.predicate.monitorLog.network.length - 1);
  refused(verify(one, pair, { dsse: resigned(t, (s) => s.predicate.monitorLog.network.pop()) }),
    `claim: /predicate/monitorLog/network/${dns}: the statement says nothing, the evidence an object`);
});

test('a verdict, an outcome and an actor that the evidence does not give', (t) => {
  refused(verify(one, pair, { dsse: resigned(t, (s) => { s.predicate.verdict = 'install'; }) }),
    'claim: /predicate/verdict: the statement says "install", the evidence "review"');
  refused(verify(one, pair, { dsse: resigned(t, (s) => { s.predicate.monitorLog.fileAccess[0].annotations.outcome = 'attempted'; }) }),
    'claim: /predicate/monitorLog/fileAccess/0/annotations/outcome: the statement says "attempted", the evidence "effected"');
  refused(verify(one, pair, { dsse: resigned(t, (s) => { s.predicate.actors[0].actor = 'npm'; }) }),
    'claim: /predicate/actors/0/actor: the statement says "npm", the evidence "package"');
});

test('a member that the evidence does not give', (t) => {
  refused(verify(one, pair, { dsse: resigned(t, (s) => { s.predicate['a/b~c'] = 1; }) }),
    'claim: /predicate/a~1b~0c: the statement says 1, the evidence nothing');
});

test('a package that was not in the run', (t) => {
  refused(verify(one, pair, { dsse: resigned(t, (s) => s.subject.unshift({ name: 'a@1.0.0', digest: { sha512: '0'.repeat(128) } })) }),
    'claim: /subject/0/digest/sha256: the statement says nothing, the evidence ' +
    `"${sha256(fs.readFileSync(one.log))}"`);
});

test('the same claim in another spelling', (t) => {
  const text = JSON.stringify(one.statement, null, 1);
  refused(verify(one, pair, { dsse: file(t, sealed(text, pair.privatePem)) }),
    'claim: byte 1: the statement is not in its canonical spelling');
});

test('another run\'s record', (t) => {
  const record = (run) => run.statement.subject.find((s) => s.name === 'run-record').digest.sha256;
  refused(verify(one, pair, {}, ['--line', '2']),
    `record: the statement is about record ${record(one)}, line 2 is ${record(two)}`);
  const swapped = resigned(t, (s) => { s.subject.find((x) => x.name === 'run-record').digest.sha256 = record(two); });
  const finished = (run) => run.receipt.finishedAt;
  refused(verify(one, pair, { dsse: swapped }),
    `record: /finishedAt: the record says "${finished(two)}", the evidence "${finished(one)}"`);
  const none = resigned(t, (s) => { s.subject.find((x) => x.name === 'run-record').digest.sha256 = 'a'.repeat(64); });
  refused(verify(one, pair, { dsse: none }), `record: no line of the bundle is the record ${'a'.repeat(64)}`);
  refused(verify(one, pair, {}, ['--line', '4']), 'record: the bundle has 3 lines, not line 4');
});

test('a record that does not fit the log, signed and linked rightly', (t) => {
  const record = opened(JSON.parse(linesOf(one.bundle)[0]));
  record.sandbox.nonce = '0'.repeat(24);
  const bundle = file(t, `${canonical(sealed(record, pair.privatePem, RECORD))}\n`);
  const dsse = resigned(t, (s) => { s.subject.find((x) => x.name === 'run-record').digest.sha256 = sha256(canonical(record)); });
  refused(verify(one, pair, { dsse, bundle }),
    `record: /sandbox/nonce: the record says "${'0'.repeat(24)}", the evidence "${one.receipt.nonce}"`);
});

test('a broken chain', (t) => {
  const lines = linesOf(one.bundle);
  const bundle = (list) => ({ bundle: file(t, list.map((line) => `${line}\n`).join('')) });
  const zeros = '0'.repeat(64);
  refused(verify(one, pair, bundle([lines[0], lines[2]])),
    `bundle: line 2: /previous: it names ${sha256(lines[1])}, the line before is ${sha256(lines[0])}`);
  refused(verify(one, pair, bundle([lines[1], lines[0]])),
    `bundle: line 1: /previous: it names ${sha256(lines[0])}, the line before is ${zeros}`);
  refused(verify(one, pair, bundle([lines[0], lines[0], lines[1]])),
    `bundle: line 2: /previous: it names ${zeros}, the line before is ${sha256(lines[0])}`);
  refused(verify(one, pair, { bundle: file(t, fs.readFileSync(one.bundle).subarray(0, -1)) }),
    'bundle: line 3: it is torn: no newline ends it');
  const changed = JSON.parse(lines[1]);
  changed.payload = Buffer.from(payloadOf(changed).toString().replace('"exitCode":0', '"exitCode":1')).toString('base64');
  refused(verify(one, pair, bundle([lines[0], canonical(changed), lines[2]])),
    `bundle: line 2: /signatures/0/sig: this is not a signature of key ${keyid(one)} over these bytes`);
  refused(verify(one, pair, bundle([lines[0], '{}', lines[2]])), 'bundle: line 2: /payload: this file is not signed');
  refused(verify(one, pair, bundle([])), `record: no line of the bundle is the record ${one.statement.subject[1].digest.sha256}`);
});

test('a wrong key', (t) => {
  refused(verify(one, pair, { pub: other.pub }),
    `signature: /signatures/0/sig: this is not a signature of key ${JSON.parse(JSON.stringify(sealed({}, other.privatePem))).signatures[0].keyid} over these bytes`);
  // One that says it is the right one.
  const forged = sealed(one.statement, other.privatePem);
  forged.signatures[0].keyid = keyid(one);
  refused(verify(one, pair, { dsse: file(t, forged) }),
    `signature: /signatures/0/sig: this is not a signature of key ${keyid(one)} over these bytes`);
});

test('a second signature, and none', (t) => {
  const [signature] = one.envelope.signatures;
  const [theirs] = sealed(one.statement, other.privatePem).signatures;
  refused(verify(one, pair, { dsse: file(t, { ...one.envelope, signatures: [signature, theirs] }) }),
    'envelope: /signatures/1: there is a second signature');
  refused(verify(one, pair, { dsse: file(t, { ...one.envelope, signatures: [] }) }),
    'envelope: /signatures: there is no signature');
});

test('another payload type, also when it is signed', (t) => {
  const type = 'application/vnd.qp.run-record+json';
  const message = `envelope: /payloadType: it says ${type}, not application/vnd.in-toto+json`;
  refused(verify(one, pair, { dsse: file(t, { ...one.envelope, payloadType: type }) }), message);
  refused(verify(one, pair, { dsse: file(t, sealed(one.statement, pair.privatePem, type)) }), message);
  // A record is no statement and the other way round, whatever the type says.
  refused(verify(one, pair, { dsse: file(t, JSON.parse(linesOf(one.bundle)[0])) }), message);
  const record = opened(JSON.parse(linesOf(one.bundle)[0]));
  refused(verify(one, pair, { dsse: file(t, sealed(record, pair.privatePem)) }),
    'statement: /_type: this is no https://in-toto.io/Statement/v1');
  refused(verify(one, pair, { dsse: resigned(t, (s) => { s.predicateType = 'https://slsa.dev/provenance/v1'; }) }),
    'statement: /predicateType: this is no https://qp.example/receipt/v1');
});

test('duplicate keys, in the envelope and in what it holds', (t) => {
  const envelope = fs.readFileSync(one.dsse, 'utf8');
  const twice = envelope.replace('{"payload":', `{"payload":"${Buffer.from('{}').toString('base64')}","payload":`);
  assert.match(verify(one, pair, { dsse: file(t, twice) }).stderr,
    /^qp: error: refused: envelope: line 1, column \d+: duplicate object key near '"payload"'\n$/);
  const text = canonical(one.statement).replace('{"_type":', '{"_type":"x","_type":');
  refused(verify(one, pair, { dsse: file(t, sealed(text, pair.privatePem)) }),
    'statement: payload, line 1, column 20: duplicate object key near \'"_type"\'');
  const bundle = `${linesOf(one.bundle)[0].replace('{"payload":', '{"payload":"","payload":')}\n`;
  assert.match(verify(one, pair, { bundle: file(t, bundle) }).stderr,
    /^qp: error: refused: bundle: line 1: line 1, column \d+: duplicate object key near '"payload"'\n$/);
});

test('a file cut at any of its bytes, and an empty one', (t) => {
  const bytes = fs.readFileSync(one.dsse);
  // The last byte is the newline, which no signature covers.
  for (const len of [0, 1, 12, bytes.length >> 1, bytes.length - 100, bytes.length - 2]) {
    const result = verify(one, pair, { dsse: file(t, bytes.subarray(0, len)) });
    assert.equal(result.code, 1);
    assert.match(result.stderr, /^qp: error: refused: envelope: line 1, column \d+: /, `${len} bytes`);
  }
});

test('an unsigned file', (t) => {
  const message = 'envelope: /payload: this file is not signed';
  refused(verify(one, pair, { dsse: path.join(one.out, 'receipt.json') }), message);
  refused(verify(one, pair, { dsse: file(t, one.statement) }), message);
  refused(verify(one, pair, { dsse: file(t, []) }), message);
});

test('what nobody signed beside what somebody did', (t) => {
  refused(verify(one, pair, { dsse: file(t, { ...one.envelope, verdict: 'install' }) }),
    'envelope: /verdict: nobody signed this member');
  const [signature] = one.envelope.signatures;
  refused(verify(one, pair, { dsse: file(t, { ...one.envelope, signatures: [{ ...signature, cert: '' }] }) }),
    'envelope: /signatures/0/cert: nobody signed this member');
});

test('a spelling of base64 with bits to spare, and a signature of another length', (t) => {
  const [signature] = one.envelope.signatures;
  const sig = (text) => file(t, { ...one.envelope, signatures: [{ ...signature, sig: text }] });
  assert.equal(signature.sig.slice(-2), '==');
  const spare = `${signature.sig.slice(0, -3)}${{ A: 'B', Q: 'R', g: 'h', w: 'x' }[signature.sig.at(-3)]}==`;
  assert.deepEqual(Buffer.from(spare, 'base64'), Buffer.from(signature.sig, 'base64'));
  refused(verify(one, pair, { dsse: sig(spare) }), 'envelope: /signatures/0/sig: this is no base64');
  refused(verify(one, pair, { dsse: sig(signature.sig.slice(0, -4)) }),
    `signature: /signatures/0/sig: this is not a signature of key ${keyid(one)} over these bytes`);
  // The URL-safe alphabet is another name of the same bytes.
  const urlSafe = signature.sig.replaceAll('+', '-').replaceAll('/', '_');
  assert.equal(verify(one, pair, { dsse: sig(urlSafe) }).code, 0);
});

test('a claim of having seen everything, of a log that says otherwise', (t) => {
  assert.equal(cut.statement.predicate.complete, false);
  refused(verify(cut, pair, { dsse: resigned(t, (s) => { s.predicate.complete = true; }, cut) }),
    'claim: /predicate/complete: the statement says true, the evidence false');
});

test('a log that is cut, signed again as a complete one', (t) => {
  // The whole gzip member but its last kilobyte: the trailer is gone, the digest is right.
  const bytes = fs.readFileSync(one.log);
  const log = file(t, bytes.subarray(0, bytes.length - 600));
  const digest = sha256(fs.readFileSync(log));
  const dsse = resigned(t, (s) => { s.subject.find((x) => x.name === 'run.qplog').digest.sha256 = digest; });
  const result = verify(one, pair, { dsse, log });
  assert.equal(result.code, 1);
  assert.match(result.stderr, /^qp: error: refused: record: \/[a-zA-Z0-9/]+: the record says .*, the evidence .*\n$/);
});

test('files that are not there are no refusals', (t) => {
  const none = path.join(folder, 'none');
  for (const [name, message] of [['dsse', `cannot read ${none}`], ['pub', `cannot open the public key ${none}`], ['log', `cannot open the log ${none}`], ['bundle', `cannot open the bundle ${none}`]]) {
    const result = verify(one, pair, { [name]: none });
    assert.equal(result.stderr, `qp: error: ${message}: No such file or directory\n`);
    assert.equal(result.code, 1);
  }
  assert.equal(verify(one, pair, { pub: pair.key }).stderr, `qp: error: ${pair.key} is no Ed25519 public key in PEM\n`);
  assert.equal(verify(one, pair, { pub: file(t, 'x') }).code, 1);
});
