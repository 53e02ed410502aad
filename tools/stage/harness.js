// SPDX-License-Identifier: Apache-2.0
// Loads one installed package the way a program would, and stays as long as it has work,
// up to a bound.
//
//     node harness.js NAME [WAIT_SECONDS]
//
// The outcome is one JSON object on descriptor 3, which is closed at once. Ends with 0 when
// the package came to rest, 124 when it was still busy at the end of the wait, or as the
// package itself ends the process.
'use strict';

const fs = require('node:fs');
const { createRequire, Module } = require('node:module');
const path = require('node:path');

const REPORT_FD = 3;
const WAIT_SECONDS = 5;
const LOAD_SECONDS = 30;
const ERROR_MAX = 2000;
const STILL_BUSY = 124;

const { closeSync, existsSync, readFileSync, realpathSync, statSync, writeSync } = fs;
const { exit } = process;
const { clearTimeout, setTimeout } = globalThis;
const stringify = JSON.stringify;
const root = process.cwd();
const name = process.argv[2];
const waitMs = Number(process.argv[3] ?? WAIT_SECONDS) * 1000;
process.argv.splice(2);

let reported = false;
function report(outcome) {
	if (reported)
		return;
	reported = true;
	writeSync(REPORT_FD, stringify({ ok: false, mode: null, error: null, resolved: null, ...outcome }));
	closeSync(REPORT_FD);
}

function describe(error) {
	let text;
	try {
		text = error instanceof Error ? String(error.stack ?? error) : String(error);
	} catch {
		text = 'an error that cannot be shown';
	}
	return text.slice(0, ERROR_MAX);
}

const relative = (file) => (file === null ? null : path.relative(root, file));

function isFile(file) {
	return existsSync(file) && statSync(file).isFile();
}

// The target of "exports" for an import, by its conditions in their order.
function exportTarget(target) {
	if (typeof target === 'string' || target === null || target === undefined)
		return target ?? null;
	if (Array.isArray(target))
		return target.map(exportTarget).find(Boolean) ?? null;
	for (const [condition, value] of Object.entries(target)) {
		if (['node', 'import', 'module-sync', 'node-addons', 'default'].includes(condition)) {
			const found = exportTarget(value);
			if (found)
				return found;
		}
	}
	return null;
}

function mainExport(manifest) {
	const { exports } = manifest;
	const hasSubpaths = exports && typeof exports === 'object' && !Array.isArray(exports) &&
		Object.keys(exports).some((key) => key.startsWith('.'));
	return exportTarget(hasSubpaths ? exports['.'] : exports);
}

// Which file an import of the package's own name loads, or null.
function importFile(folder, manifest) {
	const entry = manifest.exports === undefined || manifest.exports === null
		? manifest.main ?? 'index.js' : mainExport(manifest);
	const file = entry && path.join(folder, entry);
	return file && isFile(file) ? realpathSync(file) : null;
}

// Whether the package has anything to load: one of only types or programs has not.
function hasEntry(folder, manifest) {
	if (manifest.exports !== undefined && manifest.exports !== null)
		return mainExport(manifest) !== null || hasRequireExport(manifest.exports);
	const { main } = manifest;
	if (typeof main === 'string' && main !== '')
		return !main.endsWith('.d.ts'); // a missing file is a failure to load, not a lack
	return ['index.js', 'index.json', 'index.node'].some((file) => isFile(path.join(folder, file)));
}

function hasRequireExport(exports) {
	const subpaths = typeof exports === 'object' && Object.keys(exports).some((key) => key.startsWith('.'));
	const entry = subpaths ? exports['.'] : exports;
	return stringify(entry ?? null).includes('"require"');
}

const NEEDS_IMPORT = new Set(['ERR_REQUIRE_ESM', 'ERR_REQUIRE_ASYNC_MODULE', 'ERR_PACKAGE_PATH_NOT_EXPORTED']);

// import() resolves names from the module it stands in, and that must be the project's.
async function importPackage(folder, manifest, mode = 'import', resolved = importFile(folder, manifest)) {
	const module = new Module(path.join(root, 'index.js'));
	module._compile('module.exports = (name) => import(name);', path.join(root, 'index.js'));
	try {
		await module.exports(name);
		report({ ok: true, mode, resolved: relative(resolved) });
	} catch (error) {
		report({ mode, error: describe(error), resolved: relative(resolved) });
	}
}

async function load() {
	const folder = path.join(root, 'node_modules', name);
	const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8').replace(/^\uFEFF/, ''));
	if (!hasEntry(folder, manifest))
		return report({ ok: true, mode: 'no-entry' });
	const require = createRequire(path.join(root, 'index.js'));
	const mode = 'fallback-require';
	let resolved = null;
	try {
		resolved = require.resolve(name);
		require(name);
	} catch (error) {
		if (NEEDS_IMPORT.has(error?.code))
			return importPackage(folder, manifest);
		return report({ mode, error: describe(error), resolved: relative(resolved) });
	}
	// What an import loads may be another file, with other doings.
	const imported = importFile(folder, manifest);
	if (imported === null || imported === resolved)
		return report({ ok: true, mode, resolved: relative(resolved) });
	return importPackage(folder, manifest, mode, resolved);
}

process.on('exit', (code) => report({ error: `the process ended (${code}) while the package was loading` }));

// Neither timer keeps the process alive: they only end one that other work keeps alive.
function endAfter(ms, what) {
	return setTimeout(() => {
		report({ error: what });
		exit(STILL_BUSY);
	}, ms).unref();
}

const loading = endAfter(LOAD_SECONDS * 1000, `the package was still loading after ${LOAD_SECONDS} seconds`);
load().catch((error) => report({ error: describe(error) })).finally(() => {
	clearTimeout(loading);
	endAfter(waitMs, null);
});
