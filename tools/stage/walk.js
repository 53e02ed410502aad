// SPDX-License-Identifier: Apache-2.0
// The manifest walk: what a tree asks for, read from the registry's manifests alone, before
// any lock file is made. A dependency that is not the registry's is listed, never fetched.
'use strict';

const npm = require('./npm.js');
const { bundledManifests } = require('./bundle.js');

const WORKERS = 24;
const NON_REGISTRY_MAX = 1000;
// How many more ranges than packages a tree may name.
const VISITS_PER_PACKAGE = 10;

const npa = npm.require('npm-package-arg');
const pacote = npm.require('pacote');

function isRegistry(spec) {
	return spec.registry === true && (spec.type !== 'alias' || isRegistry(spec.subSpec));
}

// {ok, spec}: the parsed dependency, if the registry is where it comes from.
function parseDependency(name, range) {
	if (typeof range !== 'string')
		return { ok: false };
	try {
		let spec = npa.resolve(name, range);
		if (!isRegistry(spec))
			return { ok: false };
		while (spec.subSpec)
			spec = spec.subSpec;
		return { ok: true, spec };
	} catch {
		return { ok: false }; // a protocol or a form that npm does not know
	}
}

const object = (value) => (value && typeof value === 'object' && !Array.isArray(value) ? value : {});

// What npm installs for a package, as [name, range, optional]. A peer that is only
// optional is not fetched on its account.
function dependenciesOf(manifest, { legacyPeerDeps = false } = {}) {
	const optional = object(manifest.optionalDependencies);
	const found = [];
	for (const [name, range] of Object.entries(object(manifest.dependencies))) {
		if (!Object.hasOwn(optional, name))
			found.push([name, range, false]);
	}
	for (const [name, range] of Object.entries(optional))
		found.push([name, range, true]);
	if (!legacyPeerDeps) {
		const meta = object(manifest.peerDependenciesMeta);
		for (const [name, range] of Object.entries(object(manifest.peerDependencies))) {
			if (!object(meta[name]).optional)
				found.push([name, range, false]);
		}
	}
	return found;
}

const tooMany = (cnt) =>
	Object.assign(new Error(`the tree has more than ${cnt} packages`), { code: 'EPACKAGES' });

class Walk {
	constructor(options, maxPackages) {
		this.options = options;
		this.maxPackages = maxPackages;
		this.queue = [];
		this.seen = new Set();
		this.expanded = new Set();
		this.required = new Set();
		this.asking = new Map();
		this.origins = new Set();
		this.nonRegistry = [];
		this.manifestsFetched = 0;
		this.hasBundles = false;
	}

	add(name, range, from, optional) {
		const key = `${name}@${range}`;
		if (this.seen.has(key))
			return;
		if (this.seen.size >= this.maxPackages * VISITS_PER_PACKAGE)
			throw tooMany(this.maxPackages);
		this.seen.add(key);
		const parsed = parseDependency(name, range);
		if (!parsed.ok) {
			if (this.nonRegistry.length < NON_REGISTRY_MAX)
				this.nonRegistry.push({ name, spec: String(range), from });
			return;
		}
		if (!optional) {
			this.required.add(parsed.spec.name);
			if (this.required.size > this.maxPackages)
				throw tooMany(this.maxPackages);
		}
		this.queue.push({ spec: parsed.spec, optional });
	}

	// One request per name at a time: the second of two ranges then finds the first's answer.
	async manifest(spec) {
		const earlier = this.asking.get(spec.name);
		const asked = (async () => {
			await earlier?.catch(() => {});
			return pacote.manifest(spec, this.options);
		})();
		this.asking.set(spec.name, asked);
		return asked;
	}

	async visit({ spec, optional }) {
		let manifest;
		try {
			manifest = await this.manifest(spec);
		} catch (error) {
			if (optional)
				return null; // npm goes on without it
			throw error;
		}
		this.manifestsFetched++;
		const id = `${manifest.name}@${manifest.version}`;
		if (this.expanded.has(id))
			return manifest;
		this.expanded.add(id);
		if (manifest._resolved)
			this.origins.add(new URL(manifest._resolved).origin);
		await this.expand(manifest, optional, manifest._resolved && {
			spec: id,
			resolved: manifest._resolved,
			integrity: manifest._integrity,
		});
		return manifest;
	}

	// Queues what @manifest depends on. Packages bundled in its tarball are not fetched,
	// but what they lack is: those are looked at too.
	async expand(manifest, optional, tarball) {
		const id = `${manifest.name}@${manifest.version}`;
		const bundle = manifest.bundleDependencies ?? manifest.bundledDependencies;
		const isBundling = bundle === true || (Array.isArray(bundle) && bundle.length > 0);
		this.hasBundles ||= isBundling;
		const shipped = isBundling && tarball ? await bundledManifests(tarball, this.options) : null;
		for (const [name, range, opt] of dependenciesOf(manifest, this.options)) {
			if (!shipped?.has('', name))
				this.add(name, range, id, optional || opt);
		}
		for (const [place, inner] of shipped?.manifests ?? []) {
			for (const [name, range, opt] of dependenciesOf(inner, this.options)) {
				if (!shipped.has(place, name))
					this.add(name, range, `${id} > ${inner.name}@${inner.version}`, optional || opt);
			}
		}
	}

	async run() {
		let failed = null;
		let busy = 0;
		await new Promise((done) => {
			const pump = () => {
				if (failed || (!busy && !this.queue.length))
					return done();
				while (busy < WORKERS && this.queue.length) {
					busy++;
					this.visit(this.queue.shift())
						.catch((error) => (failed ??= error))
						.finally(() => {
							busy--;
							pump();
						});
				}
			};
			pump();
		});
		if (failed)
			throw failed;
	}

	report() {
		const ok = this.nonRegistry.length === 0;
		return {
			ok,
			reason: ok ? null : 'a dependency does not come from the registry',
			stage: 'tree',
			visited: this.seen.size,
			manifestsFetched: this.manifestsFetched,
			nonRegistry: this.nonRegistry,
		};
	}
}

module.exports = { Walk, dependenciesOf, parseDependency };
