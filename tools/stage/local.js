// SPDX-License-Identifier: Apache-2.0
// A folder or a tarball of this machine, made ready to be installed like a published
// package: as a tarball in the project's folder.
'use strict';

const { createHash } = require('node:crypto');
const { copyFileSync, createReadStream, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { pipeline } = require('node:stream/promises');
const npm = require('./npm.js');

const MANIFEST_MAX_BYTES = 4 * 1024 * 1024;
const TARBALL = 'package.tgz';

const tar = npm.require('tar');

const noManifest = (why) => Object.assign(new Error(why), { code: 'ENOMANIFEST' });

function parseManifest(text) {
	let manifest;
	try {
		manifest = JSON.parse(text.replace(/^\uFEFF/, ''));
	} catch (error) {
		throw noManifest(`package.json is no JSON: ${error.message}`);
	}
	if (typeof manifest?.name !== 'string' || typeof manifest.version !== 'string')
		throw noManifest('package.json lacks a name or a version');
	return manifest;
}

// The files that `npm pack` would take, by npm's own list. pacote is not asked to pack:
// up to its version 15 it runs the folder's `prepare` script, whatever it is told.
async function pack(folder, target) {
	// Read first, since the library takes a file that cannot be read for an empty one.
	parseManifest(readFileSync(join(folder, 'package.json'), 'utf8'));
	const Arborist = npm.require('@npmcli/arborist');
	const packlist = npm.require('npm-packlist');
	const tree = await new Arborist({ path: folder, packageLock: false }).loadActual();
	const files = await packlist(tree, { path: folder });
	await tar.c({
		file: target,
		cwd: folder,
		prefix: 'package/',
		portable: true,
		noDirRecurse: true,
		gzip: { level: 9 },
		// As published tarballs have it: the same folder gives the same bytes.
		mtime: new Date('1985-10-26T08:15:00.000Z'),
	}, files);
}

// The manifest within a tarball: package.json of its one top folder, read from the stream.
async function manifestOf(file) {
	let text = null;
	let failure = null;
	const onEntry = (entry) => {
		if (text !== null || !/^[^/]+\/package\.json$/.test(entry.path.replace(/^\.\//, '')))
			return entry.resume();
		if (entry.size > MANIFEST_MAX_BYTES) {
			failure = Object.assign(new Error('package.json is too big'), { code: 'EFBIG' });
			return entry.resume();
		}
		const parts = [];
		text = '';
		entry.on('data', (part) => parts.push(part));
		entry.on('end', () => (text = Buffer.concat(parts).toString('utf8')));
	};
	await tar.t({ file, strict: true, onentry: onEntry, onReadEntry: onEntry });
	if (failure)
		throw failure;
	if (text === null)
		throw noManifest('the tarball has no package.json');
	return parseManifest(text);
}

async function integrityOf(file) {
	const hash = createHash('sha512');
	await pipeline(createReadStream(file), hash);
	return `sha512-${hash.digest('base64')}`;
}

// Puts the package at @from ("folder" or "tarball" by @source) into @project, which then
// depends on it. Returns {manifest, integrity, spec}.
async function prepare(source, from, project) {
	const file = join(project, TARBALL);
	if (source === 'tarball')
		copyFileSync(from, file);
	else
		await pack(from, file);
	const manifest = await manifestOf(file);
	return { manifest, integrity: await integrityOf(file), spec: `file:${TARBALL}` };
}

function writeProject(project, name, spec) {
	const manifest = { name: 'app', version: '1.0.0', private: true, dependencies: { [name]: spec } };
	writeFileSync(join(project, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

module.exports = { TARBALL, prepare, writeProject };
