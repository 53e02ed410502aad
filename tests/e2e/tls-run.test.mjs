// SPDX-License-Identifier: Apache-2.0
// A package whose install script asks for something by https: what qp run tells of it in either
// mode, and of DNS over TLS.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { assertComplete, assertReplays, observations, receiptOf, temporaryFolder } from './lib/qp.mjs';

const root = process.getuid() === 0;

const script = `
  const https = require('node:https');
  https.request({ host: 'prebuilt.example', path: '/v2/linux-x64?a=1', method: 'PUT' }, (answer) => {
    console.log('status', answer.statusCode);
    answer.resume();
  }).on('error', (error) => console.log('error', error.code)).end('hello');`;

function run(t, mode) {
  const folder = path.join(temporaryFolder(t), 'package');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'qp-fixture-tls',
    version: '1.0.0', main: 'index.js', scripts: { install: 'node fetch.js' } }));
  fs.writeFileSync(path.join(folder, 'index.js'), 'module.exports = 1;\n');
  fs.writeFileSync(path.join(folder, 'fetch.js'), script);
  return receiptOf(t, ['run', '--tls', mode, folder]);
}

const tcp = (result) => result.receipt.network.sinkholeLog.filter((r) => r.type === 'tcp');

describe('qp run --tls', { skip: root ? false : 'needs root' }, () => {
  test('intercept: method, host, path and size of what an install script sends', (t) => {
    const result = run(t, 'intercept');
    const [shake, http] = tcp(result);
    assert.deepEqual([shake.protocol, shake.sni, shake.handshake],
      ['tls', 'prebuilt.example', 'accepted']);
    assert.deepEqual([http.protocol, http.method, http.host, http.path, http.payloadBytes, http.dstPort],
      ['http', 'PUT', 'prebuilt.example', '/v2/linux-x64?a=1', 5, 443]);
    assert.equal(http.inTls.sni, 'prebuilt.example');
    assert.equal(tcp(result).length, 2);
    const sent = observations(result.receipt, 'net-tcp').find((o) => o.http);
    assert.deepEqual([sent.package, sent.sni, sent.http.method, sent.http.path],
      ['qp-fixture-tls', 'prebuilt.example', 'PUT', '/v2/linux-x64?a=1']);
    assert.ok(result.receipt.rulesFired.some((rule) => rule.id === 'd'));
    assert.equal(result.code, 20, result.stderr);
    assertComplete(result.receipt);
    assertReplays(result);
  });

  test('refuse: the name that was asked for, and no request', (t) => {
    const result = run(t, 'refuse');
    const [shake] = tcp(result);
    assert.equal(tcp(result).length, 1);
    assert.deepEqual([shake.protocol, shake.sni, shake.dstPort, shake.handshake, shake.method],
      ['tls', 'prebuilt.example', 443, undefined, undefined]);
    const [tried] = observations(result.receipt, 'net-tcp');
    assert.deepEqual([tried.package, tried.sni, tried.http ?? null],
      ['qp-fixture-tls', 'prebuilt.example', null]);
    assert.deepEqual(result.receipt.rulesFired.map((rule) => rule.id), ['f']);
    assert.equal(result.code, 10, result.stderr);
    assertComplete(result.receipt);
    assertReplays(result);
  });

  test('a question by DNS over TLS is told as a question, under TLS', (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(path.join(folder, 'dot.cjs'), `
      const query = Buffer.from('001d12340100000100000000000007' + Buffer.from('example').toString('hex')
        + '03' + Buffer.from('org').toString('hex') + '0000010001', 'hex');
      const socket = require('node:tls').connect({ host: 'dot.example', servername: 'dot.example', port: 853 },
        () => socket.write(query));
      socket.on('data', () => socket.end()).on('error', (error) => console.log(error.code));`);
    const result = receiptOf(t, ['exec', '--tls', 'intercept', '--in', folder, '--', 'node', 'dot.cjs']);
    const [question] = result.receipt.network.sinkholeLog.filter((r) =>
      r.type === 'dns' && r.name === 'example.org');
    assert.deepEqual([question?.proto, question?.dstPort, question?.inTls.sni], ['tcp', 853, 'dot.example'],
      result.receipt.logs.sandboxOutput);
  });
});
