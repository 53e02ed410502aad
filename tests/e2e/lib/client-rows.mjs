// SPDX-License-Identifier: Apache-2.0
// What clients are told to do, and the records that must come of it. A row: `run`, a shell
// command; `program`, its first word unless said; `exit` (0); `prints`; `hosts`, the names whose
// addresses it asks for; `records`, all others in the order that they were made in.
import { BODY, sha256 } from './clients.mjs';
import { body, dns, dnsTcp, http, node, tcp, tls } from './client-records.mjs';
import { READ, REFUSED } from './client-rows-tls.mjs';

const EXES = {
  curl: /\/curl$/, wget: /\/wget$/, git: /\/git(-remote-https?)?$|\/ssh$/, ssh: /\/ssh$/, dig: /\/dig$/,
  nslookup: /\/nslookup$/, node: /\/node$/, npm: /\/node$/, pip3: /\/python3[.\d]*$/, python3: /\/python3[.\d]*$/,
  openssl: /\/openssl$/, nc: /\/nc\.openbsd$/,
};

const LONG = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(45)}.example`;

const HTTP = [
  { run: 'curl -sS -i http://curl-get.example/x?a=b', prints: /^HTTP\/1.1 403 Forbidden/, hosts: ['curl-get.example'],
    records: [http('GET', 'curl-get.example', '/x?a=b', { headers: ['Host', 'User-Agent', 'Accept'] })] },
  { run: 'curl -sS -I http://curl-head.example/x', prints: /Content-Length: 146\\x0d\n.*\\x0d\n\\x0d\n$/, hosts: ['curl-head.example'],
    records: [http('HEAD', 'curl-head.example', '/x')] },
  { run: 'curl -sS --data-binary @body http://curl-post.example:8080/p', prints: /403 Forbidden/, hosts: ['curl-post.example'],
    records: [http('POST', 'curl-post.example:8080', '/p', body(BODY))] },
  { run: 'curl -sS -v -H "Expect: 100-continue" --data-binary @body http://curl-expect.example/p',
    prints: /< HTTP\/1.1 100 Continue[^]*< HTTP\/1.1 403/, hosts: ['curl-expect.example'],
    records: [http('POST', 'curl-expect.example', '/p', body(BODY))] },
  { run: 'curl -sS -H "Transfer-Encoding: chunked" --data-binary @body http://curl-chunked.example/p', prints: /403 Forbidden/,
    hosts: ['curl-chunked.example'], records: [http('POST', 'curl-chunked.example', '/p', { ...body(BODY), chunked: true })] },
  { run: 'curl -sS -T body http://curl-put.example/p', prints: /403 Forbidden/, hosts: ['curl-put.example'],
    records: [http('PUT', 'curl-put.example', '/p', body(BODY))] },
  { run: 'curl -sS -o /dev/null -o /dev/null -w "%{num_connects}," http://curl-keep.example/1 http://curl-keep.example/2',
    prints: /^1,0,/, hosts: ['curl-keep.example'],
    records: [http('GET', 'curl-keep.example', '/1'), http('GET', 'curl-keep.example', '/2')] },
  { run: 'curl -sS -i -0 http://curl-old.example/p', prints: /Connection: close/, hosts: ['curl-old.example'],
    records: [http('GET', 'curl-old.example', '/p')] },
  { run: 'curl -sS -i --http2 http://curl-upgrade.example/p', prints: /^HTTP\/1.1 403/, hosts: ['curl-upgrade.example'],
    records: [http('GET', 'curl-upgrade.example', '/p', { upgrade: 'h2c' })] },
  { run: 'curl -sS -i --http2-prior-knowledge --data-binary @body http://curl-two.example/p', prints: /^HTTP\/2 403/,
    hosts: ['curl-two.example'], records: [http('POST', 'curl-two.example', '/p', { ...body(BODY), httpVersion: '2' })] },
  { run: 'curl -sS -6 http://curl-six.example/p', prints: /403/, hosts: ['curl-six.example'],
    records: [http('GET', 'curl-six.example', '/p', { dstIp: /^fd00::/ })] },
  { run: 'curl -sS -x http://curl-proxy.example:3128 http://target.example/p', prints: /403/, hosts: ['curl-proxy.example'],
    records: [http('GET', 'target.example', 'http://target.example/p', { dstName: 'curl-proxy.example', dstPort: 3128 })] },
  { run: 'curl -sS -x http://curl-tunnel.example:3128 https://target.example/p', exit: 56, prints: /response 403/, hosts: ['curl-tunnel.example'],
    records: [http('CONNECT', 'target.example:443', 'target.example:443', { dstName: 'curl-tunnel.example', dstPort: 3128 })] },
  { run: 'wget -nv -O- http://wget-get.example/w', exit: 8, prints: /403: Forbidden/, hosts: ['wget-get.example'],
    records: [http('GET', 'wget-get.example', '/w')] },
  { run: 'wget -nv -O- --post-data=a=b http://wget-post.example/w', exit: 8, prints: /403: Forbidden/, hosts: ['wget-post.example'],
    records: [http('POST', 'wget-post.example', '/w', body('a=b'))] },
  { run: 'git ls-remote http://git-http.example/a.git', exit: 128, prints: /error: 403/, hosts: ['git-http.example'],
    records: [http('GET', 'git-http.example', '/a.git/info/refs?service=git-upload-pack')] },
  { run: `python3 -c 'import urllib.request as u; u.urlopen("http://urllib.example/u", data=b"a=1")'`, exit: 1, prints: /HTTP Error 403: Forbidden/,
    hosts: ['urllib.example'], records: [http('POST', 'urllib.example', '/u', body('a=1'))] },
  { run: 'pip3 download --no-cache-dir --retries 0 -i http://pip.example/simple --trusted-host pip.example --disable-pip-version-check some_pkg',
    exit: 1, prints: /No matching distribution found for some_pkg/, hosts: ['pip.example'],
    records: [http('GET', 'pip.example', '/simple/some-pkg/')] },
  { run: 'npm view some-pkg --registry http://npm-view.example/ --fetch-retries 0 --no-update-notifier', exit: 1, prints: /E403/,
    hosts: ['npm-view.example'], records: [http('GET', 'npm-view.example', '/some-pkg')] },
  { run: 'mkdir i && cd i && npm install @a/b --registry http://npm-install.example:4873/ --fetch-retries 0 --no-update-notifier', exit: 1,
    prints: /E403/, program: 'npm', hosts: ['npm-install.example'], records: [http('GET', 'npm-install.example:4873', '/@a%2fb')] },
  { run: node('require("http").request("http://node-http.example/n", { method: "PATCH" }, (r) => console.log(r.resume().statusCode)).end("abc")'),
    prints: /^403/, hosts: ['node-http.example'], records: [http('PATCH', 'node-http.example', '/n', { ...body('abc') })] },
  { run: node('fetch("http://node-fetch.example/n", { method: "POST", body: "abc" }).then((r) => console.log(r.status))'),
    prints: /^403/, hosts: ['node-fetch.example'], records: [http('POST', 'node-fetch.example', '/n', body('abc'))] },
  { run: node('const s = require("http2").connect("http://node-two.example:8000"); const r = s.request({ ":path": "/n", ":method": "POST" }); ' +
    'r.on("response", (h) => { console.log(h[":status"]); s.close(); }).resume().end("abc")'),
    prints: /^403/, hosts: ['node-two.example'], records: [http('POST', 'node-two.example:8000', '/n', { ...body('abc'), httpVersion: '2' })] },
  { run: node('const s = require("net").connect(80, "node-pipe.example", () => s.write(' +
    '"GET /1 HTTP/1.1\\r\\nHost: h.example\\r\\n\\r\\nPOST /2 HTTP/1.1\\r\\nHost: h.example\\r\\nContent-Length: 3\\r\\n\\r\\nabcGET /3 HTTP/1.1\\r\\nHost: h.example\\r\\nConnection: close\\r\\n\\r\\n"));' +
    'let t = ""; s.on("data", (d) => { t += d; }).on("end", () => console.log(t.match(/HTTP.1.1 403/g).length))'),
    prints: /^3/, hosts: ['node-pipe.example'],
    records: ['/1', '/2', '/3'].map((target) => http(target === '/2' ? 'POST' : 'GET', 'h.example', target,
      { dstName: 'node-pipe.example', ...(target === '/2' ? body('abc') : {}) })) },
  { run: node('require("http").get("http://node-socket.example/chat", { headers: { Connection: "Upgrade", Upgrade: "websocket", ' +
    '"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13" } }, (r) => console.log(r.resume().statusCode))'),
    prints: /^403/, hosts: ['node-socket.example'], records: [http('GET', 'node-socket.example', '/chat', { upgrade: 'websocket' })] },
];

const DNS = [
  { run: 'dig dig-a.example', prints: /dig-a\.example\.\t+60\tIN\tA\t198\.1[89]\./, records: [dns('dig-a.example', 1, { answer: /^198\.1[89]\./ })] },
  { run: 'dig +short dig-aaaa.example AAAA', prints: /^fd00::/, records: [dns('dig-aaaa.example', 28, { answer: /^fd00::/ })] },
  { run: 'dig +short dig-mx.example MX', prints: /^10 mail\.dig-mx\.example\.\n/, records: [dns('dig-mx.example', 15, { answer: '10 mail.dig-mx.example' })] },
  { run: 'dig +short dig-txt.example TXT', prints: /^"v=spf1 -all"\n/, records: [dns('dig-txt.example', 16)] },
  { run: 'dig +short dig-ns.example NS', prints: /^ns1\.dig-ns\.example\.\n/, records: [dns('dig-ns.example', 2)] },
  { run: 'dig +short _ldap._tcp.dig-srv.example SRV', prints: /^10 5 389 dig-srv\.example\.\n/, records: [dns('_ldap._tcp.dig-srv.example', 33)] },
  { run: 'dig +short dig-https.example HTTPS', prints: /^1 \. alpn="h2"\n/, records: [dns('dig-https.example', 65)] },
  { run: 'dig +short www.dig-www.example', prints: /^dig-www\.example\.\n198\.1[89]\./, records: [dns('www.dig-www.example', 1)] },
  { run: 'dig +short www.dig-alias.example MX', prints: /^dig-alias\.example\.\n10 mail\.dig-alias\.example\.\n/,
    records: [dns('www.dig-alias.example', 15, { answer: '10 mail.dig-alias.example' })] },
  { run: 'dig -x 192.0.2.77', prints: /status: NXDOMAIN/, records: [dns('77.2.0.192.in-addr.arpa', 12, { answer: null })] },
  { run: 'dig +short -x $(dig +short dig-ptr.example)', prints: /^dig-ptr\.example\.\n/,
    records: [dns('dig-ptr.example', 1), dns(/^\d+\.\d+\.1[89]\.198\.in-addr\.arpa$/, 12, { answer: 'dig-ptr.example' })] },
  { run: 'dig dig-caa.example CAA', prints: /status: NOERROR[^]*ANSWER: 0/, records: [dns('dig-caa.example', 257, { answer: null })] },
  { run: 'dig +tcp dig-tcp.example', prints: /\tA\t198\.1[89][^]*\(TCP\)/, records: [dns('dig-tcp.example', 1, { proto: 'tcp' }), dnsTcp({ bytesReceived: 58 })] },
  { run: 'dig +tcp +keepopen dig-k1.example dig-k2.example', prints: /dig-k1[^]*NOERROR[^]*dig-k2/,
    records: [dns('dig-k1.example', 1, { proto: 'tcp' }), dns('dig-k2.example', 1, { proto: 'tcp' }), dnsTcp({ bytesReceived: 114 })] },
  { run: 'dig @192.0.2.53 -p 5353 dig-port.example', prints: /NOERROR[^]*192\.0\.2\.53#5353/,
    records: [dns('dig-port.example', 1, { dstIp: '192.0.2.53', dstPort: 5353 })] },
  { run: 'dig +tcp @2001:db8:9::53 -p 9953 dig-port-tcp.example', prints: /NOERROR[^]*2001:db8:9::53#9953/,
    records: [dns('dig-port-tcp.example', 1, { proto: 'tcp', dstIp: '2001:db8:9::53', dstPort: 9953 }), dnsTcp({ dstIp: '2001:db8:9::53', dstPort: 9953 })] },
  { run: 'dig +bufsize=4096 +dnssec +nsid +subnet=192.0.2.0/24 dig-edns.example', prints: /EDNS: version: 0, flags: do; udp: 1232[^]*\tA\t198/,
    records: [dns('dig-edns.example', 1)] },
  { run: 'dig +edns=7 +noednsnegotiation dig-version.example', prints: /status: BADVERS/, records: [dns('dig-version.example', 1)] },
  { run: 'dig +noedns dig-plain.example', prints: /ADDITIONAL: 0[^]*\tA\t198/, records: [dns('dig-plain.example', 1, { bytes: 35 })] },
  { run: `dig +noedns ${LONG} MX`, prints: /Truncated, retrying in TCP mode[^]*MX\t10 mail\.aaaa[^]*\(TCP\)/,
    records: [dns(LONG, 15), dns(LONG, 15, { proto: 'tcp', answer: `10 mail.${LONG}` }), dnsTcp({ bytesReceived: 2 + 12 + LONG.length + 2 + 4 })] },
  { run: `dig +bufsize=1232 ${LONG} MX`, prints: /MX\t10 mail\.aaaa[^]*\(UDP\)/, records: [dns(LONG, 15)] },
  { run: 'dig CH version.bind TXT', prints: /NOERROR[^]*ANSWER: 0/, records: [dns('version.bind', 16, { answer: null })] },
  { run: 'dig +opcode=notify dig-notify.example SOA', prints: /status: NOTIMP/,
    records: [{ type: 'malformed', protocol: 'dns', why: 'an opcode that is not QUERY' }, { type: 'udp', dstPort: 53, firstBytes: /dig-notify/ }] },
  { run: 'dig +tls @192.0.2.54 +tries=1 dig-dot.example', prints: /^$/,
    records: [tls(null, ['dot'], { dstIp: '192.0.2.54', dstPort: 853, service: 'dot' })] },
  { run: 'dig +https @8.8.8.8 +tries=1 dig-doh.example', exit: 9, prints: /TLS error/,
    records: [tls(null, ['h2'], { dstIp: '8.8.8.8', service: 'doh' })] },
  { run: `curl -sS -H 'content-type: application/dns-message' --data-binary @body http://curl-doh.example/dns-query`, prints: /403/,
    hosts: ['curl-doh.example'], records: [http('POST', 'curl-doh.example', '/dns-query', { ...body(BODY), service: 'doh' })] },
  { run: 'nslookup -type=a nslookup.example 198.51.100.5', prints: /Address: 198\.1[89]\./, records: [dns('nslookup.example', 1, { dstIp: '198.51.100.5' })] },
  { run: node('require("dns").lookup("node-lookup.example", { all: true }, (e, a) => console.log(JSON.stringify(a)))'),
    prints: /"198\.1[89]\.[^]*"fd00::/, hosts: ['node-lookup.example'], records: [] },
  { run: node('const d = require("dns").promises; d.setServers(["192.0.2.9:5300"]); Promise.all([d.resolveMx("node-dns.example"), ' +
    'd.resolveSrv("_sip._udp.node-dns.example"), d.resolveTxt("node-dns.example")]).then((a) => console.log(JSON.stringify(a)))'),
    prints: /"exchange":"mail\.node-dns\.example"[^]*"port":5060[^]*v=spf1/,
    records: [['node-dns.example', 15], ['_sip._udp.node-dns.example', 33], ['node-dns.example', 16]]
      .map(([name, type]) => dns(name, type, { dstIp: '192.0.2.9', dstPort: 5300 })) },
];

const OTHERS = [
  { run: node('const s = require("dgram").createSocket("udp4"); s.send("a datagram", 4001, "203.0.113.41", () => s.close())'), prints: /^$/,
    records: [{ type: 'udp', dstIp: '203.0.113.41', dstPort: 4001, bytes: 10, firstBytes: 'a datagram' }] },
  { run: node('const s = require("dgram").createSocket("udp6"); s.send(Buffer.alloc(40003, 97), 4002, "2001:db8:9::41", () => s.close())'), prints: /^$/,
    records: [{ type: 'udp', dstIp: '2001:db8:9::41', dstPort: 4002, bytes: 40003, firstBytes: 'a'.repeat(256) }] },
  { run: node('const s = require("dgram").createSocket("udp4"); s.send(Buffer.concat([Buffer.from("c300000001088394c8f03e5157080000449e", "hex"), ' +
    'Buffer.alloc(1182)]), 443, "203.0.113.42", () => s.close())'), prints: /^$/,
    records: [{ type: 'udp', dstIp: '203.0.113.42', dstPort: 443, bytes: 1200, protocol: 'quic', quicVersion: 1, service: null }] },
  { run: node('const s = require("net").connect(4003, "203.0.113.43", () => s.end("over tcp")).resume()'), prints: /^$/,
    records: [tcp('unknown', null, 4003, { dstIp: '203.0.113.43', firstBytes: 'over tcp' })] },
  { run: 'printf "some bytes" | nc -N nc-tcp.example 4004', prints: /^$/, program: 'nc', hosts: ['nc-tcp.example'], records: [tcp('unknown', 'nc-tcp.example', 4004, { bytesReceived: 10, firstBytes: 'some bytes' })] },
  { run: 'printf "some bytes" | nc -u -q 0 203.0.113.45 4005', prints: /^$/, program: 'nc',
    records: [{ type: 'udp', dstIp: '203.0.113.45', dstPort: 4005, bytes: 10, firstBytes: 'some bytes' }] },
  { run: 'nc -z 203.0.113.46 4006', prints: /^$/, records: [{ type: 'tcp', protocol: 'none', dstIp: '203.0.113.46', dstPort: 4006, bytesReceived: 0 }] },
];

// Protocols that are neither HTTP, TLS nor DNS.
const MAIL = 'Subject: x\\r\\n\\r\\nhello\\r\\n';
const TALKS = [
  { run: 'git ls-remote git://git-git.example/a/b.git', exit: 128, prints: /access denied or repository not exported: \/a\/b\.git/,
    hosts: ['git-git.example'], records: [tcp('git', 'git-git.example', 9418, { repositories: ['/a/b.git'] })] },
  { run: 'GIT_SSH_COMMAND="ssh -o StrictHostKeyChecking=no" git ls-remote ssh://git@git-ssh.example/a.git', program: 'git', exit: 128,
    prints: /Could not read from remote/, hosts: ['git-ssh.example'], records: [tcp('ssh', 'git-ssh.example', 22, { software: [/^SSH-2\.0-OpenSSH/] })] },
  { run: 'ssh -o StrictHostKeyChecking=no -p 2022 deploy@ssh.example true', exit: 255, prints: /Connection closed/, hosts: ['ssh.example'],
    records: [tcp('ssh', 'ssh.example', 2022)] },
  { run: `python3 -c 'import smtplib; s = smtplib.SMTP("smtplib.example", 2525); ` +
    `print(s.sendmail("a@from.example", ["b@to.example", "c@to.example"], "${MAIL}")); s.quit()'`, prints: /^{}/, hosts: ['smtplib.example'],
    records: [tcp('smtp', 'smtplib.example', 2525, { mails: [{ from: 'a@from.example', to: ['b@to.example', 'c@to.example'],
      bytes: 21, sha256: sha256('Subject: x\r\n\r\nhello\r\n') }] })] },
  { run: 'curl -sS -T body --mail-from a@x.example --mail-rcpt b@x.example smtp://curl-smtp.example', prints: /^$/, hosts: ['curl-smtp.example'],
    records: [tcp('smtp', 'curl-smtp.example', 25, { mails: [{ from: 'a@x.example', to: ['b@x.example'], bytes: BODY.length + 2, sha256: sha256(`${BODY}\r\n`) }] })] },
  { run: 'curl -sS -T body ftp://me:pw@curl-ftp.example/up.txt', prints: /^$/, hosts: ['curl-ftp.example'],
    records: [tcp('ftp', 'curl-ftp.example', 21, { users: ['me'], files: ['up.txt'] }),
      { type: 'tcp', protocol: 'unknown', dstName: 'curl-ftp.example', bytesReceived: BODY.length, firstBytes: BODY.slice(0, 256) }] },
  { run: 'curl -sS -u me:pw imap://curl-imap.example/INBOX', prints: /^$/, hosts: ['curl-imap.example'],
    records: [tcp('imap', 'curl-imap.example', 143, { users: ['me pw'] })] },
  { run: 'curl -sS -u me:pw pop3://curl-pop.example/', prints: /^(\\x0d)?\n?$/, hosts: ['curl-pop.example'],
    records: [tcp('pop3', 'curl-pop.example', 110, { users: ['me'] })] },
  { run: 'curl -sS -d hello mqtt://curl-mqtt.example/some/topic', prints: /^$/, hosts: ['curl-mqtt.example'],
    records: [tcp('mqtt', 'curl-mqtt.example', 1883, { topics: ['some/topic'] })] },
  { run: 'curl -sS -m 2 rtsp://curl-rtsp.example/x', exit: 28, prints: /timed out/, hosts: ['curl-rtsp.example'], records: [tcp('rtsp', 'curl-rtsp.example', 554)] },
  { run: 'curl -sS -m 2 ldap://curl-ldap.example/dc=x', exit: 28, prints: /timed out/, hosts: ['curl-ldap.example'], records: [tcp('ldap', 'curl-ldap.example', 389)] },
  { run: 'curl -sS -x socks5h://curl-socks.example:1080 http://target.example/p', prints: /403/, hosts: ['curl-socks.example'],
    records: [http('GET', 'target.example', '/p', { dstName: 'curl-socks.example', dstPort: 1080, proxy: { protocol: 'socks5', targets: ['target.example:80'] } })] },
  { run: 'curl -sS -x socks4a://curl-socks4.example:1080 http://target.example/p', prints: /403/, hosts: ['curl-socks4.example'],
    records: [http('GET', 'target.example', '/p', { dstName: 'curl-socks4.example', dstPort: 1080, proxy: { protocol: 'socks4', targets: ['target.example:80'] } })] },
  { run: `curl -sS -d '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}' http://curl-eth.example:8545/`, prints: /"result":"0x1"/,
    hosts: ['curl-eth.example'], records: [http('POST', 'curl-eth.example:8545', '/', {
      ...body('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'), service: 'ethereum', methods: ['eth_chainId'] })] },
  { run: `printf '*1\\r\\n$4\\r\\nPING\\r\\n' | nc -N nc-redis.example 6379`, program: 'nc', prints: /^\+PONG/, hosts: ['nc-redis.example'],
    records: [tcp('redis', 'nc-redis.example', 6379, { commands: ['PING'] })] },
  { run: `printf 'NICK a\\r\\nUSER b 0 * :c\\r\\nJOIN #x\\r\\nQUIT\\r\\n' | nc -N nc-irc.example 6667`, program: 'nc', prints: /001 a :Welcome/,
    hosts: ['nc-irc.example'], records: [tcp('irc', 'nc-irc.example', 6667, { users: ['a'], channels: ['#x'] })] },
  { run: 'openssl s_client -connect openssl-mail.example:25 -starttls smtp', exit: 1, prints: /Didn.t find STARTTLS/, hosts: ['openssl-mail.example'],
    records: [tcp('smtp', 'openssl-mail.example', 25)] },
  { run: `python3 -c 'import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b"\\x1b" + 47 * b"\\0", ("203.0.113.47", 123))'`, prints: /^$/,
    records: [{ type: 'udp', dstIp: '203.0.113.47', dstPort: 123, bytes: 48, protocol: 'ntp' }] },
];

function complete(row) {
  const program = row.program ?? row.run.match(/^\w+/)[0];
  return { hosts: [], exit: 0, ...row, program, exe: EXES[program] };
}

export const refuseRows = [...HTTP, ...DNS, ...OTHERS, ...TALKS, ...REFUSED].map(complete);
export const interceptRows = READ.map(complete);
