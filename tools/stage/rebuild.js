// SPDX-License-Identifier: Apache-2.0
// Runs the installation scripts of packages, one package after the other, through npm's own
// library, and goes on after a failure.
//
//     node rebuild.js PLACE...       ("node_modules/a", dependencies first)
//
// Each script's end is a line of JSON on descriptor 3. Ends with 0 when all succeeded.
'use strict';

const { existsSync, readFileSync, writeSync } = require('node:fs');
const { dirname, join, resolve } = require('node:path');
const os = require('node:os');

const REPORT_FD = 3;
const EVENTS = ['preinstall', 'install', 'postinstall'];
const HEADERS = '/usr/include/node';

const places = process.argv.slice(2);

const say = (record) => writeSync(REPORT_FD, `${JSON.stringify(record)}\n`);

// A setting of the npmrc that a distribution ships within npm's folder.
function builtin(npm, name, otherwise) {
	const file = join(npm.folder, 'npmrc');
	const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
	const found = lines.map((line) => line.split('=')).find(([key]) => key.trim() === name);
	return found ? found.slice(1).join('=').trim() : otherwise;
}

// What npm sets for the scripts it runs, beyond what it was started with.
function npmEnvironment(npm) {
	const home = process.env.HOME || os.homedir();
	const prefix = builtin(npm, 'prefix', dirname(dirname(process.execPath)));
	const env = {
		NODE: process.execPath,
		INIT_CWD: process.cwd(),
		COLOR: '0',
		EDITOR: process.env.EDITOR || 'vi',
		npm_command: 'rebuild',
		npm_execpath: join(npm.folder, 'bin/npm-cli.js'),
		npm_node_execpath: process.execPath,
		npm_config_npm_version: npm.version,
		npm_config_user_agent:
			`npm/${npm.version} node/${process.version} ${process.platform} ${process.arch} workspaces/false`,
		npm_config_cache: join(home, '.npm'),
		npm_config_userconfig: join(home, '.npmrc'),
		npm_config_globalconfig: builtin(npm, 'globalconfig', join(prefix, 'etc/npmrc')),
		npm_config_global_prefix: prefix,
		npm_config_local_prefix: process.cwd(),
		npm_config_prefix: prefix,
		npm_config_init_module: join(home, '.npm-init.js'),
		npm_config_noproxy: '',
		npm_config_node_gyp: npm.require.resolve('node-gyp/bin/node-gyp.js'),
	};
	if (existsSync(join(HEADERS, 'node.h')))
		env.npm_config_nodedir = dirname(dirname(HEADERS)); // its include/node holds node.h
	return env;
}

// The packages of the lock file, by place.
function readLock() {
	try {
		return JSON.parse(readFileSync('package-lock.json', 'utf8')).packages ?? {};
	} catch {
		return {};
	}
}

// What npm tells a script of its package's place in the tree.
function treeEnvironment(entry) {
	const flag = (value) => (value ? '1' : '');
	return {
		npm_package_resolved: entry.resolved ?? null,
		npm_package_integrity: entry.integrity ?? null,
		npm_package_optional: flag(entry.optional),
		npm_package_dev: flag(entry.dev),
		npm_package_peer: flag(entry.peer),
		npm_package_dev_optional: flag(entry.devOptional && !entry.dev && !entry.optional),
	};
}

function readPackage(path) {
	const pkg = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8').replace(/^\uFEFF/, ''));
	pkg._id = `${pkg.name}@${pkg.version}`;
	return pkg;
}

// npm's library raises a script's signal in its own process too, as npm should end with it;
// here the next package is still to come. Without a listener SIGUSR1, which a script may send
// to its whole process group, would open Node's debugger, and through it a package could act
// as npm.
function surviveSignals() {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGPIPE', 'SIGALRM', 'SIGUSR1', 'SIGUSR2', 'SIGABRT'])
		process.on(signal, () => {});
}

const exitCode = (error) =>
	Number.isInteger(error.code) ? error.code
		: error.signal ? 128 + (os.constants.signals[error.signal] ?? 0) : 1;

// The banner and what went wrong, as npm prints them.
function showOutput() {
	process.on('output', (kind, ...words) => {
		if (kind === 'standard')
			process.stdout.write(`${words.join(' ')}\n`);
	});
}

async function runPackage(place, runScript, env) {
	const path = resolve(place);
	const pkg = readPackage(path);
	let rc = 0;
	for (const event of EVENTS) {
		if (rc)
			break; // a package's later scripts need its earlier ones
		let ran = false;
		try {
			({ ran } = await runEvent(runScript, { event, path, pkg, env }));
		} catch (error) {
			ran = true;
			rc = exitCode(error);
			console.error(`npm error code ${rc}\nnpm error path ${path}\nnpm error command failed`);
			console.error(`npm error command sh -c ${error.script ?? event}`);
		}
		if (ran)
			say({ package: pkg.name, version: pkg.version, path: place, event, rc });
	}
	return rc;
}

async function runEvent(runScript, options) {
	const result = await runScript({ ...options, stdio: 'inherit', scriptShell: undefined });
	// The library gives what it ran back, and nothing but a code when there was nothing.
	return { ran: result.script !== undefined };
}

async function main() {
	if (places.length) {
		const npm = require('./npm.js');
		const runScript = npm.require('@npmcli/run-script');
		process.title = 'npm rebuild';
		showOutput();
		surviveSignals();
		const env = npmEnvironment(npm);
		const lock = readLock();
		for (const place of places) {
			try {
				const entry = lock[place] ?? {};
				if (await runPackage(place, runScript, { ...env, ...treeEnvironment(entry) }))
					process.exitCode = 1;
			} catch (error) {
				process.exitCode = 1;
				console.error(`npm error ${place}: ${error.message}`);
				say({ package: null, version: null, path: place, event: null, rc: 1 });
			}
		}
	}
	if (!process.exitCode)
		console.log('rebuilt dependencies successfully');
}

main();
