// SPDX-License-Identifier: Apache-2.0
// Clients of TLS, in both modes of the sinkhole: refused, or read.
import { BODY, sha256 } from './clients.mjs';
import { ALERT, BOTH, body, dns, dnsTcp, http, node, tcp, tls } from './client-records.mjs';

// The ClientHello is read and refused.
export const REFUSED = [
  { run: 'curl -sS https://curl-tls.example/p', exit: 35, prints: ALERT, hosts: ['curl-tls.example'], records: [tls('curl-tls.example', BOTH)] },
  { run: 'curl -sS --http1.1 https://curl-tls-one.example:8443/p', exit: 35, prints: ALERT, hosts: ['curl-tls-one.example'],
    records: [tls('curl-tls-one.example', ['http/1.1'], { dstPort: 8443 })] },
  { run: 'curl -sS --tls-max 1.2 https://curl-tls-old.example/', exit: 35, prints: ALERT, hosts: ['curl-tls-old.example'],
    records: [tls('curl-tls-old.example', BOTH, { versions: ['1.2'] })] },
  { run: 'wget -nv -O- https://wget-tls.example/w', exit: 4, prints: ALERT, hosts: ['wget-tls.example'], records: [tls('wget-tls.example', [])] },
  { run: 'git ls-remote https://git-https.example/a.git', exit: 128, prints: ALERT, hosts: ['git-https.example'], records: [tls('git-https.example', BOTH)] },
  { run: `python3 -c 'import urllib.request as u; u.urlopen("https://urllib-tls.example/u", data=b"a=1")'`, exit: 1, prints: ALERT,
    hosts: ['urllib-tls.example'], records: [tls('urllib-tls.example', ['http/1.1'])] },
  { run: 'npm view some-pkg --registry https://npm-tls.example/ --fetch-retries 0 --no-update-notifier', exit: 1, prints: ALERT,
    hosts: ['npm-tls.example'], records: [tls('npm-tls.example')] },
  { run: 'openssl s_client -connect 203.0.113.61:443 -servername openssl.example -alpn h2,a/b', exit: 1, prints: ALERT,
    records: [tls('openssl.example', ['h2', 'a/b'], { dstIp: '203.0.113.61', dstName: null })] },
  { run: node('require("https").get("https://node-https.example/n", { ALPNProtocols: ["http/1.1"] }).on("error", (e) => console.log(e.code))'), prints: ALERT,
    hosts: ['node-https.example'], records: [tls('node-https.example', ['http/1.1'])] },
  { run: node('require("http2").connect("https://node-tls-two.example/").on("error", (e) => console.log(e.code))'), prints: ALERT,
    hosts: ['node-tls-two.example'], records: [tls('node-tls-two.example', ['h2'])] },
  { run: node('require("tls").connect({ host: "203.0.113.62", port: 993, servername: "node-tls.example", ALPNProtocols: ["imap"] })' +
    '.on("error", (e) => console.log(e.code))'), prints: ALERT,
    records: [tls('node-tls.example', ['imap'], { dstIp: '203.0.113.62', dstName: null, dstPort: 993 })] },
];

// A handshake, and what came under it.
function under(name, offered, chosen, inner, more = {}) {
  const inTls = { version: 'TLSv1.3', ...(name ? { sni: name } : {}), ...(chosen ? { alpn: chosen } : {}) };
  return [tls(name, offered, { handshake: 'accepted', version: 'TLSv1.3', alpnChosen: chosen, ...more }), { ...inner, inTls }];
}

const https = (method, authority, target, more = {}) => http(method, authority, target, { dstPort: 443, ...more });
const MAILS = [{ from: 'a@x.example', to: ['b@x.example'], bytes: BODY.length + 2, sha256: sha256(`${BODY}\r\n`) }];

export const READ = [
  { run: 'curl -sS -i --data-binary @body https://curl-two.example/p', prints: /^HTTP\/2 403/, hosts: ['curl-two.example'],
    records: under('curl-two.example', BOTH, 'h2', https('POST', 'curl-two.example', '/p', { ...body(BODY), httpVersion: '2' })) },
  { run: 'curl -sS -i --http1.1 -H "Transfer-Encoding: chunked" --data-binary @body https://curl-one.example:8443/p', prints: /^HTTP\/1.1 403/,
    hosts: ['curl-one.example'], records: under('curl-one.example', ['http/1.1'], 'http/1.1',
      http('POST', 'curl-one.example:8443', '/p', { ...body(BODY), chunked: true }), { dstPort: 8443 }) },
  { run: 'curl -sS -x socks5h://curl-socks.example:1080 https://target.example/p', prints: /403/, hosts: ['curl-socks.example'],
    records: under('target.example', BOTH, 'h2', https('GET', 'target.example', '/p', { httpVersion: '2', dstName: 'curl-socks.example', dstPort: 1080 }),
      { dstName: 'curl-socks.example', dstPort: 1080, proxy: { protocol: 'socks5', targets: ['target.example:443'] } }) },
  { run: 'wget -nv -O- https://wget.example/w', exit: 8, prints: /403: Forbidden/, hosts: ['wget.example'],
    records: under('wget.example', [], null, https('GET', 'wget.example', '/w')) },
  { run: 'git ls-remote https://git.example/a.git', exit: 128, prints: /error: 403/, hosts: ['git.example'],
    records: under('git.example', BOTH, 'h2', https('GET', 'git.example', '/a.git/info/refs?service=git-upload-pack', { httpVersion: '2' })) },
  { run: `python3 -c 'import urllib.request as u; u.urlopen("https://urllib.example/u", data=b"a=1")'`, exit: 1, prints: /HTTP Error 403: Forbidden/,
    hosts: ['urllib.example'], records: under('urllib.example', ['http/1.1'], 'http/1.1', https('POST', 'urllib.example', '/u', body('a=1'))) },
  { run: 'pip3 download --no-cache-dir --retries 0 -i https://pip.example/simple --disable-pip-version-check some_pkg', exit: 1,
    prints: /No matching distribution found for some_pkg/, hosts: ['pip.example'],
    records: under('pip.example', ['http/1.1'], 'http/1.1', https('GET', 'pip.example', '/simple/some-pkg/')) },
  { run: 'npm view some-pkg --registry https://npm.example/ --fetch-retries 0 --no-update-notifier', exit: 1, prints: /E403/, hosts: ['npm.example'],
    records: under('npm.example', [], null, https('GET', 'npm.example', '/some-pkg')) },
  { run: node('require("https").request("https://node-one.example/n", { method: "POST", ALPNProtocols: ["http/1.1"] }, (r) => console.log(r.resume().statusCode)).end("abc")'),
    prints: /^403/, hosts: ['node-one.example'], records: under('node-one.example', ['http/1.1'], 'http/1.1', https('POST', 'node-one.example', '/n', body('abc'))) },
  { run: node('const s = require("http2").connect("https://node-two.example"); s.request({ ":path": "/n" }).on("response", (h) => { console.log(h[":status"]); s.close(); }).resume()'),
    prints: /^403/, hosts: ['node-two.example'], records: under('node-two.example', ['h2'], 'h2', https('GET', 'node-two.example', '/n', { host: /^node-two\.example/, httpVersion: '2' })) },
  { run: node('fetch("https://node-fetch.example/n").then((r) => console.log(r.status))'), prints: /^403/, hosts: ['node-fetch.example'],
    records: under('node-fetch.example', ['http/1.1'], 'http/1.1', https('GET', 'node-fetch.example', '/n')) },
  { run: node('const s = require("tls").connect({ host: "203.0.113.62", port: 9443, servername: "node-tls.example" }, () => s.end("under tls")).resume()'),
    prints: /^$/, records: under('node-tls.example', [], null, tcp('unknown', null, 9443, { dstIp: '203.0.113.62', bytesReceived: 9, firstBytes: 'under tls' }),
      { dstName: null, dstIp: '203.0.113.62', dstPort: 9443 }) },
  { run: 'dig +tls @192.0.2.54 dig-dot.example', prints: /\tA\t198\.1[89][^]*\(TLS\)/, records: [
    ...under(null, ['dot'], 'dot', dnsTcp({ dstIp: '192.0.2.54', dstPort: 853 }), { dstIp: '192.0.2.54', dstPort: 853, service: 'dot' }),
    dns('dig-dot.example', 1, { proto: 'tcp', dstIp: '192.0.2.54', dstPort: 853 })] },
  { run: 'dig +https @192.0.2.55 +tries=1 dig-doh.example', exit: 9, prints: /no servers could be reached/,
    records: under(null, ['h2'], 'h2', https('POST', '192.0.2.55', '/dns-query', { host: /^192\.0\.2\.55/, dstName: null, dstIp: '192.0.2.55',
      httpVersion: '2', service: 'doh', payloadBytes: undefined, bodySha256: undefined }), { dstIp: '192.0.2.55' }) },
  { run: 'curl -sS -u me:pw imaps://curl-imaps.example/INBOX', prints: /^$/, hosts: ['curl-imaps.example'],
    records: under('curl-imaps.example', [], null, tcp('imap', 'curl-imaps.example', 993, { users: ['me pw'] }), { dstPort: 993 }) },
  { run: 'curl -sS -T body --mail-from a@x.example --mail-rcpt b@x.example smtps://curl-smtps.example', prints: /^$/, hosts: ['curl-smtps.example'],
    records: under('curl-smtps.example', [], null, tcp('smtp', 'curl-smtps.example', 465, { mails: MAILS }), { dstPort: 465 }) },
  { run: 'echo Q | openssl s_client -connect 203.0.113.61:443 -servername openssl.example -verify_return_error', program: 'openssl', prints: /Verification: OK/,
    records: [tls('openssl.example', [], { dstIp: '203.0.113.61', dstName: null, handshake: 'unused' })] },
  // Clients that trust nobody, or one key only.
  { run: 'openssl s_client -connect 203.0.113.63:443 -no-CAfile -no-CApath -no-CAstore -verify_return_error', exit: 1, prints: /verify error/,
    records: [tls(null, [], { dstIp: '203.0.113.63', handshake: 'refused', alert: 'unknown_ca' })] },
  { run: `curl -sS --pinnedpubkey sha256//${'A'.repeat(43)}= https://curl-pin.example/`, exit: 90, prints: /public key does not match/, hosts: ['curl-pin.example'],
    records: [tls('curl-pin.example', BOTH, { handshake: /^(refused|unused)$/ })] },
];
