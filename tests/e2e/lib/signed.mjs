// SPDX-License-Identifier: Apache-2.0
// Signed receipts, taken apart and put together again by node's own means.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import assert from 'node:assert/strict';
import { qp, temporaryFolder } from './qp.mjs';

export const STATEMENT = 'application/vnd.in-toto+json';
export const RECORD = 'application/vnd.qp.run-record+json';

export const sha256 = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');

// RFC 8785 for what qp writes: JSON.stringify spells numbers and strings as it asks.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

// The bytes that DSSE signs.
export function pae(type, body) {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body]);
}

export function sealed(value, privatePem, type = STATEMENT) {
  const body = Buffer.from(typeof value === 'string' ? value : canonical(value));
  const key = crypto.createPrivateKey(privatePem);
  const der = crypto.createPublicKey(key).export({ type: 'spki', format: 'der' });
  return {
    payload: body.toString('base64'),
    payloadType: type,
    signatures: [{ keyid: sha256(der), sig: crypto.sign(null, pae(type, body), key).toString('base64') }],
  };
}

export const payloadOf = (envelope) => Buffer.from(envelope.payload, 'base64');
export const opened = (envelope) => JSON.parse(payloadOf(envelope));

// A pair of keys of qp's own: {key, pub, privatePem, publicPem}.
export function keys(folder, name = 'k') {
  const base = path.join(folder, name);
  const made = qp(['keygen', '--out', base]);
  assert.equal(made.code, 0, made.stderr);
  return {
    key: `${base}.key`, pub: `${base}.pub`,
    privatePem: fs.readFileSync(`${base}.key`, 'utf8'), publicPem: fs.readFileSync(`${base}.pub`, 'utf8'),
  };
}

// A signed run into @folder/@name: its files, envelope and statement.
export function signedRun(folder, name, pair, args) {
  const out = path.join(folder, name);
  const result = qp([args[0], '--out', out, '--key', pair.key, ...args.slice(1)]);
  const dsse = path.join(out, 'receipt.dsse.json');
  if (!fs.existsSync(dsse)) assert.fail(`not signed; exit ${result.code}: ${result.stderr}`);
  const envelope = JSON.parse(fs.readFileSync(dsse, 'utf8'));
  return {
    ...result, out, dsse, envelope, statement: opened(envelope),
    log: path.join(out, 'run.qplog'), bundle: path.join(folder, 'bundle.jsonl'),
    receipt: JSON.parse(fs.readFileSync(path.join(out, 'receipt.json'), 'utf8')),
  };
}

export function verify(run, pair, changed = {}, more = []) {
  return qp(['verify', changed.dsse ?? run.dsse, '--pub', changed.pub ?? pair.pub,
    '--log', changed.log ?? run.log, '--bundle', changed.bundle ?? run.bundle, '--offline', ...more]);
}

// A file with @content in a folder of its own: text, bytes, or JSON.
export function file(t, content) {
  const name = path.join(temporaryFolder(t), 'file');
  fs.writeFileSync(name, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return name;
}

export const linesOf = (bundle) => fs.readFileSync(bundle, 'utf8').split('\n').filter(Boolean);
