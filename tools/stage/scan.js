// SPDX-License-Identifier: Apache-2.0
// What a process here starts with: names of environment variables, mounts, and sockets of
// container engines. One JSON object on descriptor 3; values of variables are not read.
'use strict';

const { lstatSync, readFileSync, writeSync } = require('node:fs');

const REPORT_FD = 3;
const NAMES_MAX = 1000;
const MOUNTS_MAX = 1000;
const ENGINE_SOCKETS = [
	'/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock',
	'/run/podman/podman.sock', '/run/crio/crio.sock',
];

// A part of a name that says that the value opens something. GPG_KEY is the fingerprint
// of a public key, which images of interpreters carry.
const KEY_PARTS = new Set([
	'KEY', 'KEYS', 'APIKEY', 'TOKEN', 'TOKENS', 'SECRET', 'SECRETS', 'PASSWORD', 'PASSWD', 'PASS',
	'PASSPHRASE', 'PWD', 'CREDENTIAL', 'CREDENTIALS', 'AUTH', 'PAT', 'DSN',
]);
const IGNORED = ['GPG_KEY'];
const NO_SECRETS = new Set(['PWD', 'OLDPWD']);

function isKeyLike(name) {
	if (NO_SECRETS.has(name))
		return false;
	const parts = name.toUpperCase().split(/[^A-Z0-9]+/);
	return parts.some((part) => KEY_PARTS.has(part) || /(?:TOKEN|SECRET|PASSWORD|APIKEY)$/.test(part));
}

// mountinfo spells space, tab, newline and backslash as \ooo (proc_pid_mountinfo(5)).
const unescape = (text) =>
	text.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8)));

function mounts() {
	return readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(Boolean)
		.slice(0, MOUNTS_MAX).map((line) => {
			const [left, right] = line.split(' - ');
			const fields = left.split(' ');
			return {
				mountPoint: unescape(fields[4]),
				fsType: right.split(' ')[0],
				readOnly: fields[5].split(',').includes('ro'),
			};
		});
}

function isSocket(path) {
	try {
		return lstatSync(path).isSocket();
	} catch {
		return false;
	}
}

const names = Object.keys(process.env).sort();
writeSync(REPORT_FD, JSON.stringify({
	envNames: names.slice(0, NAMES_MAX),
	envNamesScanned: names.length,
	keyLikeEnvNames: names.filter((name) => isKeyLike(name) && !IGNORED.includes(name)),
	ignoredImageVars: IGNORED.filter((name) => names.includes(name)),
	dockerSockPresent: ENGINE_SOCKETS.filter(isSocket),
	mounts: mounts(),
}));
