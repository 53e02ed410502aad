// SPDX-License-Identifier: Apache-2.0
// How the records of clients are spelt in their rows.
import { sha256 } from './clients.mjs';

const host = (url) => url.replace(/:\d+$/, '');
export const body = (text) => ({ payloadBytes: text.length, bodySha256: sha256(text) });
export const http = (method, authority, target, more = {}) => ({
  type: 'tcp', protocol: 'http', dstName: host(authority), dstPort: Number(authority.split(':')[1] ?? 80),
  host: authority, method, path: target, payloadBytes: 0, bodySha256: null, chunked: false, httpVersion: null, ...more,
});
export const tls = (name, alpn, more = {}) => ({
  type: 'tcp', protocol: 'tls', dstName: name, dstPort: 443, sni: name, alpn, ...more,
});
// Of any other protocol.
export const tcp = (protocol, name, port, more = {}) => ({ type: 'tcp', protocol, dstName: name, dstPort: port, ...more });
export const dns = (name, qtype, more = {}) => ({ type: 'dns', name, qtype, proto: 'udp', dstPort: 53, ...more });
export const dnsTcp = (more = {}) => ({ type: 'tcp', protocol: 'dns', dstPort: 53, ...more });

export const ALERT = /alert|handshake|EPROTO|SSL/i;
export const BOTH = ['h2', 'http/1.1'];
export const node = (code) => `node -e '${code}'`;
