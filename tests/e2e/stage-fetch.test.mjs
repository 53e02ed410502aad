// SPDX-License-Identifier: Apache-2.0
// The script that fetches, run as it is, against a registry on loopback.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { build, ended, temporaryFolder } from './lib/qp.mjs';
import { registry, tarball } from './lib/registry.mjs';

const one = (name, more = {}, rest = {}) => ({ manifest: { name, version: '1.0.0', ...more }, ...rest });

// Runs a job: {code, report, project}.
async function fetched(t, job, env = {}) {
  const folder = temporaryFolder(t);
  const project = path.join(folder, 'out');
  fs.mkdirSync(project);
  const report = path.join(folder, 'report.json');
  const file = path.join(folder, 'job.json');
  const npmrc = path.join(folder, 'npmrc');
  fs.writeFileSync(npmrc, '');
  fs.writeFileSync(file, JSON.stringify({
    source: 'registry', name: '', range: '', from: '', project, cache: path.join(folder, 'cache'),
    report, maxPackages: 20, maxBytes: 50 << 20, ...job,
  }));
  const child = spawn(process.execPath, [path.join(build, 'stage/fetch.js'), file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, npm_config_userconfig: npmrc, npm_config_globalconfig: path.join(folder, 'globalrc'), ...env },
  });
  const { code, stderr } = await ended(child);
  if (!fs.existsSync(report)) assert.fail(`no report; exit ${code}: ${stderr}`);
  return { code, project, folder, report: JSON.parse(fs.readFileSync(report, 'utf8')) };
}

const fromRegistry = (t, reg, name, job = {}) =>
  fetched(t, { name, ...job }, { npm_config_registry: reg.url });

test('a tree comes whole, each thing asked for once, no script run', async (t) => {
  const marker = path.join(temporaryFolder(t), 'ran');
  const scripts = { preinstall: `touch ${marker}`, postinstall: `touch ${marker}`, prepare: `touch ${marker}` };
  const reg = await registry(t, [
    one('root', { scripts, dependencies: { a: '^1.0.0', '@s/b': '1.x' }, peerDependencies: { p: '1' } }),
    one('a', { dependencies: { '@s/b': '^1.0.0' }, optionalDependencies: { gone: '1' } }),
    one('@s/b', { scripts: { install: 'true' } }),
    one('p', { peerDependencies: { unused: '1' }, peerDependenciesMeta: { unused: { optional: true } } }),
    one('unused', { dependencies: { never: '1' } }),
  ]);
  const run = await fromRegistry(t, reg, 'root');
  assert.equal(run.report.error, null);
  assert.equal(run.code, 0);
  assert.deepEqual(run.report.packages.map((p) => p.path).sort(),
    ['node_modules/@s/b', 'node_modules/a', 'node_modules/p', 'node_modules/root']);
  assert.equal(run.report.inventory.packageCount, 4);
  assert.deepEqual([...run.report.inventory.installScripts].sort(), ['node_modules/@s/b', 'node_modules/root']);
  assert.deepEqual(run.report.lockcheck, { ok: true, packageCount: 4, nonRegistry: [] });
  assert.equal(run.report.precheck.manifestsFetched, 6, 'root, a, p, unused, and @s/b by two ranges');
  for (const name of new Set(reg.asked.filter((name) => name !== 'gone')))
    assert.equal(reg.asked.filter((other) => other === name).length, 1, `${name} of ${reg.asked}`);
  assert.ok(!reg.asked.includes('never'), 'a peer that is only optional is not installed');
  assert.ok(!fs.existsSync(marker));
  const order = run.report.packages.map((p) => p.name);
  assert.ok(order.indexOf('@s/b') < order.indexOf('a') && order.indexOf('a') < order.indexOf('root'), `${order}`);
});

for (const spec of ['git+https://git.example/x.git', 'git+ssh://git@git.example/x.git', 'someone/something',
  'github:someone/x', 'https://files.example/x.tgz', 'file:../x', 'npm:other@git+https://git.example/x.git', 'workspace:*']) {
  test(`a dependency "${spec}" is refused before any tarball is fetched`, async (t) => {
    const reg = await registry(t, [one('root', { dependencies: { a: '1' } }), one('a', { dependencies: { x: spec } })]);
    const run = await fromRegistry(t, reg, 'root');
    assert.equal(run.code, 3);
    assert.equal(run.report.precheck.ok, false);
    assert.deepEqual(run.report.precheck.nonRegistry, [{ name: 'x', spec, from: 'a@1.0.0' }]);
    assert.equal(run.report.packages, null);
    assert.deepEqual(reg.asked.filter((name) => name.endsWith('.tgz')), []);
    assert.ok(!fs.existsSync(path.join(run.project, 'node_modules')));
  });
}

test('a peer that is only optional is refused too: npm would ask for it', async (t) => {
  const peer = { peerDependencies: { x: 'git+https://git.example/x.git' }, peerDependenciesMeta: { x: { optional: true } } };
  const reg = await registry(t, [one('root', peer)]);
  const run = await fromRegistry(t, reg, 'root');
  assert.equal(run.code, 3);
  assert.equal(run.report.precheck.nonRegistry[0].name, 'x');
});

test('an alias of a package of the registry is followed', async (t) => {
  const reg = await registry(t, [one('root', { dependencies: { x: 'npm:real@^1.0.0' } }), one('real')]);
  const run = await fromRegistry(t, reg, 'root');
  assert.equal(run.code, 0, JSON.stringify(run.report.error));
  assert.equal(run.report.inventory.packageCount, 2);
});

test('what a bundled package lacks is looked at too', async (t) => {
  const inner = { name: 'inner', version: '1.0.0', dependencies: { x: 'git+https://git.example/x.git', y: '1' } };
  const files = {
    'node_modules/inner/package.json': JSON.stringify(inner),
    'node_modules/y/package.json': '{"name":"y","version":"1.0.0"}',
  };
  const bundling = { dependencies: { inner: '1' }, bundleDependencies: ['inner'] };
  const reg = await registry(t, [one('root', bundling, { files })]);
  const run = await fromRegistry(t, reg, 'root');
  assert.equal(run.code, 3);
  assert.deepEqual(run.report.precheck.nonRegistry,
    [{ name: 'x', spec: 'git+https://git.example/x.git', from: 'root@1.0.0 > inner@1.0.0' }]);
});

test('bundled packages are installed and listed', async (t) => {
  const files = { 'node_modules/inner/package.json': '{"name":"inner","version":"1.0.0","scripts":{"install":"true"}}' };
  const reg = await registry(t, [one('root', { dependencies: { inner: '1' }, bundleDependencies: ['inner'] }, { files })]);
  const run = await fromRegistry(t, reg, 'root');
  assert.equal(run.code, 0, JSON.stringify(run.report.error));
  assert.deepEqual(run.report.packages.find((p) => p.name === 'inner'), {
    name: 'inner', version: '1.0.0', path: 'node_modules/root/node_modules/inner', scripts: ['install'],
  });
  assert.ok(!reg.asked.includes('inner'));
});

test('a binding.gyp alone counts as an install script', async (t) => {
  const reg = await registry(t, [
    one('root', { dependencies: { 'off': '1', 'own': '1' } }, { files: { 'binding.gyp': '{}' } }),
    one('off', { gypfile: false }, { files: { 'binding.gyp': '{}' } }),
    one('own', { scripts: { preinstall: 'true' } }, { files: { 'binding.gyp': '{}' } }),
  ]);
  const run = await fromRegistry(t, reg, 'root');
  const scripts = Object.fromEntries(run.report.packages.map((p) => [p.name, p.scripts]));
  assert.deepEqual(scripts, { root: ['install'], off: [], own: ['preinstall'] });
});

const failures = {
  'an unknown package': ['nosuch', {}, 'E404'],
  'an unknown dependency': ['lacking', {}, 'E404'],
  'a version that is not there': ['root', { range: '9.9.9' }, 'ETARGET'],
  'a tarball that is not what its integrity says': ['corrupt', {}, 'EINTEGRITY'],
  'more packages than allowed': ['deep', { maxPackages: 2 }, 'EPACKAGES'],
  'a package that the registry says is too big': ['big', { maxBytes: 1000 }, 'EFBIG'],
};
for (const [what, [name, job, code]] of Object.entries(failures)) {
  test(`${what} is ${code}`, async (t) => {
    const reg = await registry(t, [
      one('root'), one('lacking', { dependencies: { nosuch: '1' } }), one('corrupt', {}, { corrupt: true }),
      one('deep', { dependencies: { root: '1', other: '1' } }), one('other'), one('big', {}, { unpackedSize: 1001 }),
    ]);
    const run = await fromRegistry(t, reg, name, job);
    assert.equal(run.report.error?.code, code, JSON.stringify(run.report.error));
    assert.equal(run.code, 1);
    assert.equal(run.report.packages, null);
  });
}

test('no registry at all is said within seconds', async (t) => {
  const begin = Date.now();
  const run = await fetched(t, { name: 'x' }, { npm_config_registry: 'http://127.0.0.1:9/' });
  assert.equal(run.report.error.code, 'ECONNREFUSED');
  assert.ok(Date.now() - begin < 30_000);
});

test('a folder is packed as npm would, and its scripts are not run', async (t) => {
  const from = temporaryFolder(t);
  const marker = path.join(temporaryFolder(t), 'ran');
  const script = `touch ${marker}`;
  fs.writeFileSync(path.join(from, 'package.json'), JSON.stringify({
    name: 'own', version: '2.0.0', files: ['lib'],
    scripts: { prepare: script, prepack: script, postpack: script, install: script },
  }));
  fs.mkdirSync(path.join(from, 'lib'));
  fs.writeFileSync(path.join(from, 'lib/a.js'), '');
  fs.writeFileSync(path.join(from, 'secret.txt'), '');
  const run = await fetched(t, { source: 'folder', from });
  assert.equal(run.code, 0, JSON.stringify(run.report.error));
  assert.ok(!fs.existsSync(marker));
  assert.deepEqual(fs.readdirSync(path.join(run.project, 'node_modules/own')).sort(), ['lib', 'package.json']);
  assert.deepEqual(run.report.packages, [{ name: 'own', version: '2.0.0', path: 'node_modules/own', scripts: ['install'] }]);
  assert.deepEqual(fs.readdirSync(run.project).sort(), ['node_modules', 'package-lock.json', 'package.json']);
  const again = await fetched(t, { source: 'folder', from });
  assert.equal(again.report.integrity, run.report.integrity, 'the same folder gives the same bytes');
});

const tarballs = {
  'that is no tarball': [Buffer.from('no tarball at all'), /^(TAR_|Z_)/],
  'that was cut': [tarball({ 'package.json': '{"name":"x","version":"1.0.0"}' }).subarray(0, 80), /^(TAR_|Z_)/],
  'without a package.json': [tarball({ 'index.js': '' }), /^ENOMANIFEST$/],
  'whose package.json is no JSON': [tarball({ 'package.json': '{' }), /^ENOMANIFEST$/],
  'whose package has no version': [tarball({ 'package.json': '{"name":"x"}' }), /^ENOMANIFEST$/],
};
for (const [what, [bytes, code]] of Object.entries(tarballs)) {
  test(`a file ${what} is an error`, async (t) => {
    const from = path.join(temporaryFolder(t), 'x.tgz');
    fs.writeFileSync(from, bytes);
    const run = await fetched(t, { source: 'tarball', from });
    assert.match(run.report.error?.code ?? 'none', code);
    assert.equal(run.code, 1);
  });
}

test('a tarball keeps its integrity, and its dependencies come from the registry', async (t) => {
  const reg = await registry(t, [one('a')]);
  const from = path.join(temporaryFolder(t), 'x.tgz');
  fs.writeFileSync(from, tarball({ 'package.json': '{"name":"x","version":"1.0.0","dependencies":{"a":"1"}}' }));
  const run = await fetched(t, { source: 'tarball', from }, { npm_config_registry: reg.url });
  assert.equal(run.code, 0, JSON.stringify(run.report.error));
  assert.deepEqual(run.report.packages.map((p) => p.name), ['a', 'x']);
  assert.equal(run.report.precheck.visited, 1);
  const { createHash } = await import('node:crypto');
  assert.equal(run.report.integrity, `sha512-${createHash('sha512').update(fs.readFileSync(from)).digest('base64')}`);
});
