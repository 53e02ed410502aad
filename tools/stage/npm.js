// SPDX-License-Identifier: Apache-2.0
// Finds the npm of this machine, and hands out the libraries that come with it.
'use strict';

const { existsSync, readFileSync, realpathSync } = require('node:fs');
const { createRequire } = require('node:module');
const { delimiter, dirname, join } = require('node:path');

function isNpm(folder) {
	try {
		return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === 'npm';
	} catch {
		return false;
	}
}

// npm's folder: where the npm of PATH leads, or one of the usual places.
function npmFolder() {
	const candidates = [];
	for (const dir of (process.env.PATH || '').split(delimiter)) {
		const file = join(dir, 'npm');
		if (dir && existsSync(file))
			candidates.push(dirname(dirname(realpathSync(file))));
	}
	candidates.push(join(dirname(dirname(process.execPath)), 'lib/node_modules/npm'),
		'/usr/share/nodejs/npm', '/usr/lib/node_modules/npm', '/usr/local/lib/node_modules/npm');
	const folder = candidates.find(isNpm);
	if (!folder)
		throw Object.assign(new Error('npm is not installed'), { code: 'ENONPM' });
	return folder;
}

const folder = npmFolder();
// Resolution starts in npm's own lib/, as npm's does, so that a library which a
// distribution keeps outside npm's folder is found the same way.
const requireNpm = createRequire(join(folder, 'lib', 'npm.js'));
const version = requireNpm(join(folder, 'package.json')).version;

module.exports = { folder, version, require: requireNpm };
