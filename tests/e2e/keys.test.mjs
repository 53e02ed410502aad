// SPDX-License-Identifier: Apache-2.0
// Keys: how they are made, where they are read from, and which are not taken.
import test from 'node:test';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { qp, qpProgram, temporaryFolder } from './lib/qp.mjs';
import { file, keys, sha256, signedRun, verify } from './lib/signed.mjs';

const mode = (name) => fs.statSync(name).mode & 0o777;

test('keygen makes a private file that only its owner reads, and a public one that belongs to it', (t) => {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  assert.equal(mode(pair.key), 0o600);
  assert.equal(mode(pair.pub), 0o644);
  const openssl = spawnSync('openssl', ['pkey', '-in', pair.key, '-pubout'], { encoding: 'utf8' });
  assert.equal(openssl.stdout, pair.publicPem);
  assert.equal(crypto.createPrivateKey(pair.privatePem).asymmetricKeyType, 'ed25519');
});

test('keygen overwrites nothing and leaves no half pair', (t) => {
  const folder = temporaryFolder(t);
  const base = path.join(folder, 'k');
  fs.writeFileSync(`${base}.pub`, 'mine');
  const result = qp(['keygen', '--out', base]);
  assert.equal(result.code, 1);
  assert.equal(result.stderr, `qp: error: cannot write ${base}.pub: File exists\n`);
  assert.deepEqual(fs.readdirSync(folder), ['k.pub']);
  const second = keys(folder, 'other');
  assert.equal(qp(['keygen', '--out', path.join(folder, 'other')]).code, 1);
  assert.equal(fs.readFileSync(second.key, 'utf8'), second.privatePem);
});

test('an encrypted key opens with its passphrase, from a file or from standard input, and not without', (t) => {
  const folder = temporaryFolder(t);
  const passphrase = file(t, 'correct horse battery staple\nnot this line\n');
  const base = path.join(folder, 'k');
  assert.equal(qp(['keygen', '--out', base, '--passphrase-file', passphrase]).code, 0);
  const pem = fs.readFileSync(`${base}.key`, 'utf8');
  assert.match(pem, /^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
  assert.throws(() => crypto.createPrivateKey({ key: pem, passphrase: 'correct' }));
  const key = crypto.createPrivateKey({ key: pem, passphrase: 'correct horse battery staple' });
  const der = crypto.createPublicKey(key).export({ type: 'spki', format: 'der' });
  const pair = { key: `${base}.key`, pub: `${base}.pub` };
  const run = signedRun(folder, 'one', pair, ['exec', '--key-passphrase-file', passphrase, '--', 'true']);
  assert.equal(run.envelope.signatures[0].keyid, sha256(der));
  const piped = qp(['exec', '--out', path.join(folder, 'two'), '--key', pair.key, '--key-passphrase-file', '-', '--', 'true'], { input: 'correct horse battery staple\n' });
  assert.equal(piped.code, 0, piped.stderr);
  assert.equal(verify(run, pair).code, 0);
  const exec = (...more) => qp(['exec', '--out', path.join(folder, 'no'), '--key', pair.key, ...more, '--', 'true']);
  assert.equal(exec().stderr, `qp: error: the key ${pair.key} is encrypted: name the file with its passphrase with --key-passphrase-file\n`);
  assert.equal(exec('--key-passphrase-file', file(t, 'wrong\n')).stderr, `qp: error: the passphrase does not open the key ${pair.key}\n`);
  assert.equal(fs.existsSync(path.join(folder, 'no')), false);
});

test('a key comes through a descriptor, which the sandbox does not inherit', (t) => {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  const out = path.join(folder, 'one');
  const fd = fs.openSync(pair.key, 'r');
  const result = spawnSync(qpProgram, ['exec', '--out', out, '--key', '/dev/fd/3', '--', 'sh', '-c', 'cat <&3; ls -l /proc/*/fd'],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe', fd] });
  fs.closeSync(fd);
  assert.equal(result.stderr.includes('error'), false, result.stderr);
  assert.equal(qp(['verify', path.join(out, 'receipt.dsse.json'), '--pub', pair.pub, '--log', path.join(out, 'run.qplog'), '--bundle', path.join(folder, 'bundle.jsonl')]).code, 0);
  const log = fs.readFileSync(path.join(out, 'receipt.json'), 'utf8');
  assert.ok(log.includes('Bad file descriptor') || log.includes('bad file descriptor') || log.includes('Bad fd number'));
  assert.ok(!log.includes(pair.privatePem.split('\n')[1]));
});

test('a key comes from the credentials that systemd gives', (t) => {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  const exec = (env, name = 'k.key') => qp(['exec', '--out', path.join(folder, 'one'), '--key', `credential:${name}`, '--', 'true'],
    { env: { PATH: process.env.PATH, ...env } });
  assert.match(exec({}).stderr, /CREDENTIALS_DIRECTORY is not set/);
  assert.match(exec({ CREDENTIALS_DIRECTORY: folder }, '../k.key').stderr, /no name of a credential/);
  const result = exec({ CREDENTIALS_DIRECTORY: folder });
  assert.equal(result.code, 0, result.stderr);
  assert.equal(fs.existsSync(path.join(folder, 'one', 'receipt.dsse.json')), true);
  assert.equal(mode(pair.key), 0o600);
});

test('what is no Ed25519 key is not taken, before anything is run', (t) => {
  const folder = temporaryFolder(t);
  const pem = (type, options) => file(t, crypto.generateKeyPairSync(type, options).privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const exec = (key) => qp(['exec', '--out', path.join(folder, 'one'), '--key', key, '--', 'true']);
  for (const key of [pem('rsa', { modulusLength: 2048 }), pem('ec', { namedCurve: 'P-256' }), pem('x25519'), pem('ed448')]) {
    fs.chmodSync(key, 0o600);
    assert.deepEqual([exec(key).code, exec(key).stderr], [2, `qp: error: the key ${key} is not an Ed25519 key\n`]);
  }
  const { pub } = keys(folder);
  assert.equal(exec(pub).stderr.includes('is no private key in PEM'), true);
  assert.equal(exec(path.join(folder, 'none')).stderr, `qp: error: cannot open the key ${path.join(folder, 'none')}: No such file or directory\n`);
  assert.equal(fs.existsSync(path.join(folder, 'one')), false);
});

test('a key that others can read is warned of', (t) => {
  const folder = temporaryFolder(t);
  const pair = keys(folder);
  fs.chmodSync(pair.key, 0o644);
  const run = signedRun(folder, 'one', pair, ['exec', '--', 'true']);
  assert.match(run.stderr, /warning: the key .* can be read by others than its owner/);
});

test('a bundle holds the records of one key', (t) => {
  const folder = temporaryFolder(t);
  const first = keys(folder, 'first');
  const second = keys(folder, 'second');
  const run = signedRun(folder, 'one', first, ['exec', '--', 'true']);
  const bytes = fs.readFileSync(run.bundle);
  const { keyid } = run.envelope.signatures[0];
  const refused = qp(['exec', '--out', path.join(folder, 'two'), '--key', second.key, '--', 'true']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^qp: error: the bundle .*\/bundle\.jsonl is of another key than [0-9a-f]{64}: name another bundle with --bundle\n$/);
  assert.ok(!refused.stderr.includes(keyid));
  assert.deepEqual(fs.readFileSync(run.bundle), bytes);
  assert.equal(fs.existsSync(path.join(folder, 'two')), false);
  const other = path.join(folder, 'other.jsonl');
  const run2 = signedRun(folder, 'two', second, ['exec', '--bundle', other, '--', 'true']);
  assert.equal(verify(run2, second, { bundle: other }).code, 0);
});
