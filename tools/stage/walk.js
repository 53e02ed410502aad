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

// What npm asks the registry for on a package's account, as {name, range, optional,
// peersOnly}. Of a peer that is only optional npm reads the manifest and follows its peers,
// but installs neither.
function dependenciesOf(manifest, { legacyPeerDeps = false } = {}, peersOnly = false) {
	const found = [];
	const add = (list, optional) => {
		for (const [name, range] of Object.entries(list))
			found.push({ name, range, optional, peersOnly: false });
	};
	if (!peersOnly) {
		const optional = object(manifest.optionalDependencies);
		const required = Object.entries(object(manifest.dependencies));
		add(Object.fromEntries(required.filter(([name]) => !Object.hasOwn(optional, name))), false);
		add(optional, true);
	}
	if (!legacyPeerDeps) {
		const meta = object(manifest.peerDependenciesMeta);
		for (const [name, range] of Object.entries(object(manifest.peerDependencies))) {
			const optional = peersOnly || Boolean(object(meta[name]).optional);
			found.push({ name, range, optional, peersOnly: optional });
		}
	}
	return found;
}

const tooBig = (id, bytes) =>
	Object.assign(new Error(`${id} alone has ${bytes} bytes`), { code: 'EFBIG' });
const tooMany = (cnt) =>
	Object.assign(new Error(`the tree has more than ${cnt} packages`), { code: 'EPACKAGES' });

class Walk {
	constructor(options, { maxPackages, maxBytes }) {
		this.options = options;
		this.maxPackages = maxPackages;
		this.maxBytes = maxBytes;
		this.queue = [];
		this.seen = new Set();
		this.peersSeen = new Set();
		this.expanded = new Map();
		this.required = new Set();
		this.asking = new Map();
		this.origins = new Set();
		this.nonRegistry = [];
		this.manifestsFetched = 0;
		this.hasBundles = false;
	}

	add({ name, range, optional, peersOnly }, from) {
		const key = `${name}@${range}`;
		if (this.seen.has(key) || (peersOnly && this.peersSeen.has(key)))
			return;
		if (this.seen.size + this.peersSeen.size >= this.maxPackages * VISITS_PER_PACKAGE)
			throw tooMany(this.maxPackages);
		(peersOnly ? this.peersSeen : this.seen).add(key);
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
		this.queue.push({ spec: parsed.spec, optional, peersOnly });
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

	async visit({ spec, optional, peersOnly }) {
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
		if (!optional && manifest.dist?.unpackedSize > this.maxBytes)
			throw tooBig(id, manifest.dist.unpackedSize);
		if (this.expanded.get(id) <= Number(peersOnly))
			return manifest;
		this.expanded.set(id, Number(peersOnly)); // 0: wholly, 1: its peers only
		if (manifest._resolved)
			this.origins.add(new URL(manifest._resolved).origin);
		const { _resolved: resolved, _integrity: integrity } = manifest;
		await this.expand(manifest, { optional, peersOnly }, resolved && { spec: id, resolved, integrity });
		return manifest;
	}

	// Queues what @manifest depends on. Packages bundled in its tarball are not fetched,
	// but what they lack is: those are looked at too.
	async expand(manifest, how, tarball) {
		const id = `${manifest.name}@${manifest.version}`;
		const bundle = manifest.bundleDependencies ?? manifest.bundledDependencies;
		const isBundling = bundle === true || (Array.isArray(bundle) && bundle.length > 0);
		const looksInside = isBundling && tarball && !how.peersOnly;
		this.hasBundles ||= looksInside;
		const shipped = looksInside ? await bundledManifests(tarball, this.options) : null;
		const addAll = (one, place, from) => {
			for (const dependency of dependenciesOf(one, this.options, how.peersOnly)) {
				if (!shipped?.has(place, dependency.name))
					this.add({ ...dependency, optional: how.optional || dependency.optional }, from);
			}
		};
		addAll(manifest, '', id);
		for (const [place, inner] of shipped?.manifests ?? [])
			addAll(inner, place, `${id} > ${inner.name}@${inner.version}`);
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
			visited: this.seen.size + this.peersSeen.size,
			manifestsFetched: this.manifestsFetched,
			nonRegistry: this.nonRegistry,
		};
	}
}

module.exports = { Walk, dependenciesOf, parseDependency };
