// SPDX-License-Identifier: Apache-2.0
// What was installed, read from node_modules: every package with the scripts that npm
// would run for it, dependencies before the packages that need them.
'use strict';

const { existsSync, readFileSync, readdirSync, statSync } = require('node:fs');
const { join } = require('node:path');
const { nameOf } = require('./lock.js');

const PACKAGES_MAX = 20000;
const MANIFEST_MAX_BYTES = 4 * 1024 * 1024;
const EVENTS = ['preinstall', 'install', 'postinstall'];

function subfolders(folder) {
	try {
		return readdirSync(folder, { withFileTypes: true })
			.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
			.map((entry) => entry.name)
			.sort();
	} catch (error) {
		if (error.code === 'ENOENT')
			return [];
		throw error;
	}
}

// Every package's place ("node_modules/a/node_modules/@s/b"), outer ones first.
function findPlaces(root) {
	const places = [];
	const open = ['node_modules'];
	while (open.length) {
		const modules = open.shift();
		for (const name of subfolders(join(root, modules))) {
			const inside = name.startsWith('@')
				? subfolders(join(root, modules, name)).map((part) => `${name}/${part}`)
				: [name];
			for (const full of inside) {
				places.push(`${modules}/${full}`);
				open.push(`${modules}/${full}/node_modules`);
			}
		}
		if (places.length > PACKAGES_MAX)
			throw Object.assign(new Error(`more than ${PACKAGES_MAX} packages`), { code: 'EPACKAGES' });
	}
	return places;
}

function readManifest(root, place) {
	const file = join(root, place, 'package.json');
	if (!existsSync(file))
		return null;
	if (statSync(file).size > MANIFEST_MAX_BYTES)
		throw Object.assign(new Error(`${place}/package.json is too big`), { code: 'EFBIG' });
	try {
		const manifest = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
		return manifest && typeof manifest === 'object' ? manifest : null;
	} catch {
		return null;
	}
}

// The scripts of an installation. npm builds a package that has a binding.gyp, and neither
// an install nor a preinstall script, with node-gyp.
function scriptsOf(root, place, manifest) {
	const scripts = manifest.scripts && typeof manifest.scripts === 'object' ? manifest.scripts : {};
	const found = EVENTS.filter((event) => typeof scripts[event] === 'string' && scripts[event] !== '');
	const builds = !scripts.install && !scripts.preinstall && manifest.gypfile !== false &&
		existsSync(join(root, place, 'binding.gyp'));
	if (builds)
		found.unshift('install');
	return found;
}

function findFrom(byPlace, place, name) {
	for (let at = place; ; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
		const where = at ? `${at}/node_modules/${name}` : `node_modules/${name}`;
		if (byPlace.has(where) || !at)
			return byPlace.get(where);
	}
}

// Depth first, so that what a package depends on stands before it; a cycle is cut where
// it was entered.
function inOrder(packages, manifests) {
	const byPlace = new Map(packages.map((one) => [one.path, one]));
	const ordered = [];
	const seen = new Set();
	for (const first of packages) {
		const stack = [{ one: first, rest: null }];
		while (stack.length) {
			const top = stack[stack.length - 1];
			if (!top.rest) {
				if (seen.has(top.one)) {
					stack.pop();
					continue;
				}
				seen.add(top.one);
				const { dependencies, optionalDependencies, peerDependencies } = manifests.get(top.one.path);
				top.rest = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
			}
			const next = top.rest.length ? findFrom(byPlace, top.one.path, top.rest.shift()) : undefined;
			if (next && !seen.has(next))
				stack.push({ one: next, rest: null });
			else if (!top.rest.length && !next)
				ordered.push(stack.pop().one);
		}
	}
	return ordered;
}

// [{name, version, path, scripts}]
function listPackages(root) {
	const packages = [];
	const manifests = new Map();
	for (const place of findPlaces(root)) {
		const manifest = readManifest(root, place) ?? {};
		manifests.set(place, manifest);
		packages.push({
			name: typeof manifest.name === 'string' ? manifest.name : nameOf(place),
			version: typeof manifest.version === 'string' ? manifest.version : '',
			path: place,
			scripts: scriptsOf(root, place, manifest),
		});
	}
	return inOrder(packages, manifests);
}

module.exports = { listPackages, scriptsOf };
