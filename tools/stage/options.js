// SPDX-License-Identifier: Apache-2.0
// The options that npm would use here: its own reading of npmrc files and environment,
// with what this job does not leave to them set as on a command line.
'use strict';

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const npm = require('./npm.js');

const FLAGS = [
	'--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--package-lock',
	'--no-dry-run', '--no-global', '--no-color', '--no-progress', '--no-force', '--logs-max=0',
	'--lockfile-version=3', '--install-strategy=hoisted',
];

// The defaults wait 10 and 60 seconds between tries: longer than a person waits to hear
// that there is no network. What the user set is left alone.
const RETRY = {
	'fetch-retries': ['retries', 2],
	'fetch-retry-mintimeout': ['minTimeout', 500],
	'fetch-retry-maxtimeout': ['maxTimeout', 3000],
};

function definitions() {
	try {
		return npm.require('@npmcli/config/lib/definitions'); // npm 10 and later
	} catch {
		return npm.require(join(npm.folder, 'lib/utils/config/index.js')); // npm 8 and 9
	}
}

// One memory of what the registry said, for the walk and for npm's own tree: npm's own
// kind, which keeps itself small, where this npm has it.
function packumentCache() {
	try {
		const PackumentCache = npm.require('@npmcli/arborist/lib/packument-cache.js');
		return new PackumentCache();
	} catch {
		return new Map();
	}
}

// Newer npms build their tree from a package's full document, older ones from the short
// form. The walk asks for the same one, so that it is fetched once; the difference is one
// of speed only.
function wantsFullDocuments() {
	const file = npm.require.resolve('@npmcli/arborist/lib/arborist/build-ideal-tree.js');
	return readFileSync(file, 'utf8').includes('fullMetadata: true');
}

async function load(cache) {
	const Config = npm.require('@npmcli/config');
	const defs = definitions();
	const config = new Config({
		npmPath: npm.folder,
		definitions: defs.definitions,
		flatten: defs.flatten,
		shorthands: defs.shorthands,
		nerfDarts: defs.nerfDarts,
		argv: [process.execPath, join(npm.folder, 'bin/npm-cli.js'), ...FLAGS, `--cache=${cache}`],
		warn: false,
	});
	await config.load();
	const retry = { ...config.flat.retry };
	for (const [key, [name, value]] of Object.entries(RETRY)) {
		if (config.find(key) === 'default')
			retry[name] = value;
	}
	return {
		...config.flat,
		npmVersion: npm.version,
		retry,
		ignoreScripts: true,
		audit: false,
		fullMetadata: wantsFullDocuments(),
		// Nothing but the registry is ever fetched, whatever a manifest asks for: newer
		// npms know the first two, to older ones git is a program that fails.
		allowGit: 'none',
		allowRemote: 'none',
		git: '/bin/false',
		packumentCache: packumentCache(),
		// What the walk has just fetched into the cache on disk is not asked for again.
		preferOffline: true,
	};
}

// Every registry that these options name, as URL origins.
function registryOrigins(options) {
	const origins = new Set();
	for (const [key, value] of Object.entries(options)) {
		if (key === 'registry' || /^@.*:registry$/.test(key))
			origins.add(new URL(value).origin);
	}
	return origins;
}

module.exports = { load, registryOrigins };
