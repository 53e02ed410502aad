// SPDX-License-Identifier: Apache-2.0
// Fetches one package with all it depends on, running none of it: walk the manifests, make
// and check a lock file, install, list. The outcome goes into one JSON file.
//
//     node fetch.js JOB
//
// JOB is a JSON file: {source, name, range, from, project, cache, report, maxPackages,
// maxBytes}.
// Ends with 0 when the package is there, 3 when it was refused, 1 when it failed.
'use strict';

const { readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const LOG_LINES_MAX = 200;

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.chdir(job.project);

const report = {
	versions: { node: process.versions.node, npm: null },
	name: null, version: null, integrity: null,
	precheck: null, lockcheck: null, inventory: null, packages: null,
	error: null,
};

class Refusal extends Error {}

// npm's libraries tell what people should read through the process object.
function showWarnings() {
	let lines = 0;
	process.on('log', (level, ...words) => {
		if ((level === 'warn' || level === 'error') && lines++ < LOG_LINES_MAX)
			console.log('npm', level, ...words);
	});
}

async function timed(name, text, step) {
	const begin = process.hrtime.bigint();
	try {
		const result = await step();
		const ms = Number((process.hrtime.bigint() - begin) / 1000000n);
		console.log(`${text(result)} in ${ms}ms\nRC ${name} 0`);
		return result;
	} catch (error) {
		console.log(`RC ${name} 1`);
		throw error;
	}
}

const plural = (cnt, word) => `${cnt} ${word}${cnt === 1 ? '' : 's'}`;

function tooMany(cnt) {
	if (cnt > job.maxPackages)
		throw Object.assign(new Error(`${cnt} packages`), { code: 'EPACKAGES' });
}

// What was asked for, and the walk from there: {manifest, spec, own}.
async function begin(walk) {
	const { prepare, TARBALL } = require('./local.js');
	if (job.source !== 'registry') {
		const found = await prepare(job.source, job.from, job.project);
		const { name, version } = found.manifest;
		Object.assign(report, { name, version, integrity: found.integrity });
		await walk.expand(found.manifest, { optional: false, peersOnly: false }, { spec: found.spec, resolved: join(job.project, TARBALL) });
		return { ...found, own: { place: `node_modules/${name}`, resolved: found.spec } };
	}
	walk.add({ name: job.name, range: job.range || 'latest', optional: false, peersOnly: false }, '');
	if (!walk.queue.length)
		throw new Refusal();
	const manifest = await walk.visit(walk.queue.shift());
	const { name, version } = manifest;
	Object.assign(report, { name, version, integrity: manifest._integrity ?? null });
	return { manifest, spec: version, own: null };
}

async function main() {
	const npm = require('./npm.js');
	report.versions.npm = npm.version;
	const { load, registryOrigins } = require('./options.js');
	const { Walk } = require('./walk.js');
	const { makeLock, install, checkLock } = require('./lock.js');
	const { writeProject, TARBALL } = require('./local.js');
	const { listPackages } = require('./inventory.js');
	showWarnings();

	const options = await load(job.cache);
	const walk = new Walk(options, job);
	let root;
	try {
		root = await begin(walk);
		await timed('walk', () => `${plural(walk.manifestsFetched, 'manifest')} read`, () => walk.run());
	} finally {
		report.precheck = walk.report();
	}
	if (!report.precheck.ok)
		throw new Refusal();

	writeProject(job.project, report.name, root.spec);
	// npm looks into a bundling package's tarball by its URL, which it counts as remote.
	if (walk.hasBundles)
		options.allowRemote = 'all';
	const origins = new Set([...registryOrigins(options), ...walk.origins]);
	const check = () => checkLock(job.project, options, origins, root.own);
	const lock = await timed('lock', (made) => `locked ${plural(made.report.packageCount, 'package')}`,
		async () => {
			await makeLock(job.project, options);
			return check();
		});
	report.lockcheck = lock.report;
	if (!lock.report.ok)
		throw new Refusal();
	tooMany(lock.requiredCount);

	await timed('install', () => 'installed', () => install(job.project, options));
	rmSync(join(job.project, TARBALL), { force: true });
	const packages = listPackages(job.project);
	tooMany(packages.length);
	report.packages = packages;
	report.inventory = {
		name: report.name,
		version: report.version,
		packageCount: packages.length,
		nonRegistry: check().report.nonRegistry,
		installScripts: packages.filter((one) => one.scripts.length).map((one) => one.path),
	};
}

function writeReport() {
	writeFileSync(`${job.report}.part`, JSON.stringify(report));
	renameSync(`${job.report}.part`, job.report);
}

main().catch((error) => {
	if (!(error instanceof Refusal)) {
		console.log(`npm error ${error.code ?? ''} ${error.message}`);
		report.error = {
			code: String(error.code ?? error.name ?? 'Error').slice(0, 100),
			message: String(error.message).slice(0, 700),
		};
	}
	process.exitCode = report.error ? 1 : 3;
}).finally(writeReport);
