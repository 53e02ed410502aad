// SPDX-License-Identifier: Apache-2.0
// The manifests of packages that another package's tarball brings along, read from the
// tarball's stream; nothing is unpacked.
'use strict';

const npm = require('./npm.js');

const MANIFEST_MAX_BYTES = 1024 * 1024;
const MANIFESTS_MAX = 5000;
const TARBALL_MAX_BYTES = 1024 * 1024 * 1024;

const pacote = npm.require('pacote');
const tar = npm.require('tar');

const tooBig = (what) => Object.assign(new Error(`${what} is too big`), { code: 'EFBIG' });

class Shipped {
	constructor() {
		this.manifests = new Map(); // place in the tarball ("node_modules/a") -> manifest
	}

	// Whether @name, required from @place, is found within the tarball, as node looks.
	has(place, name) {
		for (let at = place; ; ) {
			if (this.manifests.has(at ? `${at}/node_modules/${name}` : `node_modules/${name}`))
				return true;
			if (!at)
				return false;
			const up = at.lastIndexOf('/node_modules/');
			at = up < 0 ? '' : at.slice(0, up);
		}
	}
}

function readEntry(entry, shipped, fail) {
	const path = entry.path.split('/').slice(1).join('/'); // less "package/"
	const match = /^((?:node_modules\/(?:@[^/]+\/)?[^/]+\/?)+)\/package\.json$/.exec(path);
	if (!match)
		return entry.resume();
	if (entry.size > MANIFEST_MAX_BYTES || shipped.manifests.size >= MANIFESTS_MAX)
		return fail(tooBig(`the bundle in ${path}`));
	const parts = [];
	entry.on('data', (part) => parts.push(part));
	entry.on('end', () => {
		try {
			const manifest = JSON.parse(Buffer.concat(parts).toString('utf8'));
			if (manifest && typeof manifest === 'object')
				shipped.manifests.set(match[1], manifest);
		} catch {
			// no manifest: not a package, so not found from anywhere
		}
	});
}

// @tarball is {spec, resolved, integrity}. Returns a Shipped.
async function bundledManifests(tarball, options) {
	const { spec, ...place } = tarball;
	return pacote.tarball.stream(spec, (stream) => new Promise((done, fail) => {
		const shipped = new Shipped();
		let bytes = 0;
		const onEntry = (entry) => {
			bytes += entry.size || 0;
			if (bytes > TARBALL_MAX_BYTES)
				return fail(tooBig(spec));
			readEntry(entry, shipped, fail);
		};
		// tar 6 calls it onentry, tar 7 onReadEntry.
		const parser = tar.t({ onentry: onEntry, onReadEntry: onEntry });
		parser.on('end', () => done(shipped));
		parser.on('error', fail);
		stream.on('error', fail);
		stream.pipe(parser);
	}), { ...options, ...place });
}

module.exports = { bundledManifests };
