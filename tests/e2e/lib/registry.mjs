// SPDX-License-Identifier: Apache-2.0
// A package registry on loopback that holds what a test gives it, and notes what is asked.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

// The bytes of a tarball as `npm pack` makes it: all within "package/".
export function tarball(files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'qp-e2e-pack-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, 'package', name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    }
    const packed = spawnSync('tar', ['-czf', '-', '-C', folder, 'package'], { maxBuffer: 1 << 28 });
    if (packed.status !== 0) throw new Error(String(packed.stderr));
    return packed.stdout;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

// @packages: [{manifest, files, corrupt, unpackedSize}]. With @token only requests that carry
// it are answered; with @hangs none is. Returns {url, asked}, closed when the test ends.
export async function registry(t, packages, { token = null, hangs = false } = {}) {
  const asked = [];
  const documents = new Map();
  const tarballs = new Map();
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(request.url.slice(1));
    asked.push(name);
    if (hangs) return undefined;
    if (token && request.headers.authorization !== `Bearer ${token}`) {
      response.statusCode = 401;
      return response.end('{"error": "who are you"}');
    }
    if (tarballs.has(name)) return response.end(tarballs.get(name));
    if (!documents.has(name)) {
      response.statusCode = 404;
      return response.end('{"error": "not found"}');
    }
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(documents.get(name)));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${server.address().port}/`;
  for (const { manifest, files = {}, corrupt = false, unpackedSize } of packages) {
    const bytes = tarball({ 'package.json': JSON.stringify(manifest), 'index.js': '', ...files });
    const file = `${manifest.name}/-/${manifest.version}.tgz`;
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    tarballs.set(file, corrupt ? tarball({ 'package.json': '{}' }) : bytes);
    const document = documents.get(manifest.name) ??
      { name: manifest.name, 'dist-tags': {}, versions: {}, time: {} };
    document['dist-tags'].latest = manifest.version;
    document.versions[manifest.version] = { ...manifest, dist: { tarball: url + file, integrity, unpackedSize } };
    documents.set(manifest.name, document);
  }
  return { url, asked };
}
