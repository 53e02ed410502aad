// SPDX-License-Identifier: Apache-2.0
// npm's two steps: a lock file for what package.json asks for, and the clean install of
// exactly that; between them the lock file is read back and checked.
'use strict';

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const npm = require('./npm.js');
const { dependenciesOf, parseDependency } = require('./walk.js');

const LOCK_MAX_BYTES = 16 * 1024 * 1024;

const Arborist = npm.require('@npmcli/arborist');

async function makeLock(folder, options) {
	const arborist = new Arborist({ ...options, path: folder, packageLockOnly: true, save: true });
	await arborist.reify({ packageLockOnly: true, save: true });
}

// As `npm ci`: what the lock file says, and neither it nor package.json is changed.
async function install(folder, options) {
	const arborist = new Arborist({ ...options, path: folder, packageLock: true, save: false });
	await arborist.reify({ packageLock: true, save: false });
}

function nameOf(place) {
	return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function readLock(folder) {
	const text = readFileSync(join(folder, 'package-lock.json'));
	if (text.length > LOCK_MAX_BYTES)
		throw Object.assign(new Error('package-lock.json is too big'), { code: 'EFBIG' });
	return JSON.parse(text.toString('utf8'));
}

// Where an entry of the lock file comes from, if that is not the registry. An entry
// without `resolved` does: npm leaves it out on some users' wish.
function foreignSource(entry, origins) {
	if (entry.link)
		return entry.resolved ?? 'link:';
	if (entry.resolved === undefined || entry.inBundle)
		return null;
	try {
		const url = new URL(entry.resolved);
		return /^https?:$/.test(url.protocol) && origins.has(url.origin) ? null : entry.resolved;
	} catch {
		return String(entry.resolved);
	}
}

// The entry that @name is found at when required from @place, as node looks.
function findFrom(entries, place, name) {
	for (let at = place; ; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
		const found = entries[at ? `${at}/node_modules/${name}` : `node_modules/${name}`];
		if (found || !at)
			return found;
	}
}

// @own: {place, resolved} of a local tarball that was asked for, the one entry that may
// come from a file. Returns the report, and how many packages every platform gets.
function checkLock(folder, options, origins, own) {
	const entries = readLock(folder).packages;
	const nonRegistry = [];
	let packageCount = 0;
	let requiredCount = 0;
	for (const [place, entry] of Object.entries(entries)) {
		if (place === '')
			continue;
		packageCount++;
		requiredCount += entry.optional ? 0 : 1;
		const name = entry.name ?? nameOf(place);
		const foreign = foreignSource(entry, origins);
		const isOwn = own && place === own.place && entry.resolved === own.resolved;
		if (foreign !== null && !isOwn)
			nonRegistry.push({ name, spec: foreign, from: 'package-lock.json' });
		for (const { name: dependency, range } of dependenciesOf(entry, options)) {
			if (findFrom(entries, place, dependency)?.inBundle)
				continue; // came in the tarball, was not fetched
			if (!parseDependency(dependency, range).ok)
				nonRegistry.push({ name: dependency, spec: String(range), from: `${name}@${entry.version}` });
		}
	}
	return {
		report: { ok: nonRegistry.length === 0, packageCount, nonRegistry },
		requiredCount,
	};
}

module.exports = { makeLock, install, checkLock, nameOf };
