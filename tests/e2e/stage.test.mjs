// SPDX-License-Identifier: Apache-2.0
// The scripts of the phases, run as they are in a folder of made-up packages, without a
// network.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { build, temporaryFolder } from './lib/qp.mjs';

// {name: {manifest members, files}} below node_modules; returns the project's folder.
function project(t, packages) {
  const root = fs.realpathSync(temporaryFolder(t));
  for (const [name, { files = {}, ...manifest }] of Object.entries(packages)) {
    const folder = path.join(root, 'node_modules', name);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...manifest }));
    for (const [file, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      fs.writeFileSync(path.join(folder, file), text);
    }
  }
  return root;
}

// Runs a script with descriptor 3 going to a file: {code, stdout, stderr, data}.
function run(cwd, script, args = [], env = {}) {
  const file = path.join(cwd, '.data');
  const fd = fs.openSync(file, 'w');
  const result = spawnSync('unshare', ['-n', process.execPath, path.join(build, 'stage', script), ...args], {
    cwd, encoding: 'utf8', timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe', fd],
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
  });
  fs.closeSync(fd);
  return { code: result.status, stdout: result.stdout, stderr: result.stderr, data: fs.readFileSync(file, 'utf8') };
}

const records = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

test('rebuild runs the scripts of each package in order and goes on after a failure', (t) => {
  const log = (text, rc = 0) => `echo ${text} >> "$INIT_CWD/log"; exit ${rc}`;
  const root = project(t, {
    first: { scripts: { postinstall: log('first-post'), preinstall: log('first-pre'), install: log('first-install'), prepare: log('never') } },
    bad: { scripts: { install: log('bad', 3), postinstall: log('bad-post') } },
    '@s/last': { scripts: { install: log('last') } },
    none: { scripts: { test: log('never') } },
  });
  const places = ['first', 'bad', '@s/last', 'none'].map((name) => `node_modules/${name}`);
  const { code, data, stdout } = run(root, 'rebuild.js', places);
  assert.equal(code, 1);
  assert.equal(fs.readFileSync(path.join(root, 'log'), 'utf8'), 'first-pre\nfirst-install\nfirst-post\nbad\nlast\n');
  const row = (name, event, rc) => ({ package: name, version: '1.0.0', path: `node_modules/${name}`, event, rc });
  assert.deepEqual(records(data), [
    row('first', 'preinstall', 0), row('first', 'install', 0), row('first', 'postinstall', 0),
    row('bad', 'install', 3), row('@s/last', 'install', 0),
  ]);
  assert.ok(!stdout.includes('rebuilt dependencies successfully'));
});

test('rebuild prints as npm does and succeeds', (t) => {
  const root = project(t, { one: { scripts: { install: 'echo said' } } });
  const { code, stdout } = run(root, 'rebuild.js', ['node_modules/one']);
  assert.equal(code, 0);
  assert.match(stdout, /\n> one@1\.0\.0 install\n> echo said\n/);
  assert.match(stdout, /said\n/);
  assert.match(stdout, /rebuilt dependencies successfully\n$/);
});

test('rebuild goes on after a script that was killed', (t) => {
  const root = project(t, { killed: { scripts: { install: 'kill -TERM $$' } }, next: { scripts: { install: 'true' } } });
  const { data } = run(root, 'rebuild.js', ['node_modules/killed', 'node_modules/next']);
  assert.deepEqual(records(data).map(({ package: name, rc }) => [name, rc]), [['killed', 128 + 15], ['next', 0]]);
});

test('a script cannot open the debugger of the process that runs it', (t) => {
  const root = project(t, {
    one: {
      files: {
        'ask.js': `const net = require('net');
          const socket = net.connect(9229, '127.0.0.1', () => { console.log('debugger open'); process.exit(); });
          socket.on('error', (error) => console.log(error.code));`,
      },
      scripts: { install: "trap '' USR1; kill -USR1 0; kill -USR1 $PPID; sleep 1; node ask.js" },
    },
  });
  const place = spawnSync('unshare', ['-n', 'setsid', '-w', 'sh', '-c', `ip link set lo up && exec "$0" "$@" 3>/dev/null`,
    process.execPath, path.join(build, 'stage', 'rebuild.js'), 'node_modules/one'],
  { cwd: root, encoding: 'utf8', timeout: 60_000, env: { PATH: process.env.PATH, HOME: root } });
  assert.equal(place.status, 0, place.stderr);
  assert.match(place.stdout, /ECONNREFUSED/);
  assert.ok(!place.stdout.includes('debugger open'));
});

test('a script sees what it sees under npm', (t) => {
  const script = 'env > "$INIT_CWD/env"; ls /proc/self/fd > "$INIT_CWD/fds"; tr "\\0" " " < /proc/$PPID/cmdline > "$INIT_CWD/parent"; pwd > "$INIT_CWD/cwd"';
  const root = project(t, { one: { scripts: { install: script } } });
  fs.writeFileSync(path.join(root, 'package.json'), '{"name":"app","version":"1.0.0","dependencies":{"one":"1.0.0"}}');
  const variables = () => Object.fromEntries(fs.readFileSync(path.join(root, 'env'), 'utf8').split('\n').filter(Boolean)
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  assert.equal(run(root, 'rebuild.js', ['node_modules/one']).code, 0);
  const ours = variables();
  assert.ok(!fs.readFileSync(path.join(root, 'fds'), 'utf8').split('\n').includes('4'), 'only ls itself has more than 0, 1 and 2');
  assert.match(fs.readFileSync(path.join(root, 'parent'), 'utf8'), /^npm rebuild/);
  assert.equal(fs.readFileSync(path.join(root, 'cwd'), 'utf8').trim(), path.join(root, 'node_modules/one'));
  assert.equal(ours.CI, undefined);
  const npm = spawnSync('unshare', ['-n', 'npm', 'rebuild', '--foreground-scripts'], {
    cwd: root, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: root, npm_config_update_notifier: 'false', npm_config_dangerously_allow_all_scripts: 'true' },
  });
  assert.equal(npm.status, 0, npm.stderr);
  const theirs = variables();
  // Settings that come from this host's own npmrc are none of a sandbox's.
  const differs = Object.keys(theirs).filter((name) => !/^(_|SHLVL)$/.test(name))
    .filter((name) => !name.startsWith('npm_config_') || name in ours)
    .filter((name) => ours[name] !== theirs[name]);
  assert.deepEqual(differs.map((name) => `${name}: ${theirs[name]} / ${ours[name]}`), []);
});

test('a package with a binding.gyp alone is built by node-gyp', (t) => {
  const root = project(t, { native: { files: { 'binding.gyp': '{"targets": [' } } });
  const { data, code } = run(root, 'rebuild.js', ['node_modules/native']);
  assert.equal(code, 1, 'the file is cut');
  assert.deepEqual(records(data).map(({ event, rc }) => [event, rc === 0]), [['install', false]]);
});

test('nothing to rebuild is a success', (t) => {
  const { code, stdout, data } = run(temporaryFolder(t), 'rebuild.js');
  assert.deepEqual({ code, stdout, data }, { code: 0, stdout: 'rebuilt dependencies successfully\n', data: '' });
});

test('a package that is not there is reported', (t) => {
  const { code, data } = run(temporaryFolder(t), 'rebuild.js', ['node_modules/gone']);
  assert.equal(code, 1);
  assert.deepEqual(records(data), [{ package: null, version: null, path: 'node_modules/gone', event: null, rc: 1 }]);
});

const module = { type: 'module' };
const loads = {
  'a module by require': [{ files: { 'index.js': 'exports.x = 1;' } }, { ok: true, mode: 'fallback-require', resolved: 'index.js' }, 0],
  'main of another name': [{ main: 'lib', files: { 'lib/index.js': '' } }, { ok: true, mode: 'fallback-require', resolved: 'lib/index.js' }, 0],
  'a module that can only be imported': [{ ...module, exports: { import: './a.js' }, files: { 'a.js': 'await 1; export default 1;' } },
    { ok: true, mode: 'import', resolved: 'a.js' }, 0],
  'one file to require and another to import': [
    { exports: { import: './a.mjs', require: './b.cjs' }, files: { 'a.mjs': 'import fs from "fs"; fs.writeFileSync("imported", "");', 'b.cjs': 'require("fs").writeFileSync("required", "")' } },
    { ok: true, mode: 'fallback-require', resolved: 'b.cjs', made: ['imported', 'required'] }, 0],
  'a file to import that throws': [
    { exports: { '.': { node: { import: './a.mjs', default: './b.cjs' } } }, files: { 'a.mjs': 'throw new Error("not today")', 'b.cjs': '' } },
    { ok: false, mode: 'fallback-require', resolved: 'b.cjs', error: /not today/ }, 0],
  'a file to import that is not there': [{ exports: { import: './gone.mjs', require: './b.cjs' }, files: { 'b.cjs': '' } },
    { ok: true, mode: 'fallback-require', resolved: 'b.cjs' }, 0],
  'types alone': [{ types: 'index.d.ts', main: '', files: { 'index.d.ts': '' } }, { ok: true, mode: 'no-entry', resolved: null }, 0],
  'a main of types': [{ main: 'index.d.ts', files: { 'index.d.ts': '' } }, { ok: true, mode: 'no-entry', resolved: null }, 0],
  'exports of types alone': [{ exports: { types: './index.d.ts' }, files: { 'index.d.ts': '' } }, { ok: true, mode: 'no-entry', resolved: null }, 0],
  'programs alone': [{ bin: 'cli.js', files: { 'cli.js': '' } }, { ok: true, mode: 'no-entry', resolved: null }, 0],
  'a module that throws': [{ files: { 'index.js': 'throw new Error("not today")' } }, { ok: false, mode: 'fallback-require', resolved: 'index.js', error: /not today/ }, 0],
  'an import that throws': [{ ...module, files: { 'index.js': 'await 1; throw new Error("not today")' } }, { ok: false, mode: 'import', resolved: 'index.js', error: /not today/ }, 0],
  'a thrown thing that cannot be shown': [{ files: { 'index.js': 'throw { toString() { throw 1; } }' } }, { ok: false, mode: 'fallback-require', resolved: 'index.js', error: /cannot be shown/ }, 0],
  'a main that is not there': [{ main: 'gone.js' }, { ok: false, mode: 'fallback-require', resolved: null, error: /gone\.js/ }, 0],
  'a module that ends the process': [{ files: { 'index.js': 'process.exit(7)' } }, { ok: false, mode: null, resolved: null, error: /ended \(7\)/ }, 7],
  'an import that never ends': [{ ...module, files: { 'index.js': 'await new Promise(() => {})' } }, { ok: false, mode: null, resolved: null, error: /ended/ }, 0],
  'a module that stays busy': [{ files: { 'index.js': 'setInterval(() => {}, 1000)' } }, { ok: true, mode: 'fallback-require', resolved: 'index.js' }, 124],
  'a module that fails later': [{ files: { 'index.js': 'setTimeout(() => { throw 1; }, 10)' } }, { ok: true, mode: 'fallback-require', resolved: 'index.js' }, 1],
};
for (const [what, [pkg, expected, rc]] of Object.entries(loads)) {
  test(`harness: ${what}`, (t) => {
    const root = project(t, { '@s/x': pkg });
    const { code, data } = run(root, 'harness.js', ['@s/x', '1']);
    const outcome = JSON.parse(data);
    assert.deepEqual({ ok: outcome.ok, mode: outcome.mode, resolved: outcome.resolved },
      { ok: expected.ok, mode: expected.mode, resolved: expected.resolved && `node_modules/@s/x/${expected.resolved}` });
    if (expected.error) assert.match(outcome.error, expected.error);
    else assert.equal(outcome.error, null);
    assert.equal(code, rc);
    for (const file of expected.made ?? []) assert.ok(fs.existsSync(path.join(root, file)), file);
  });
}

test('harness: what a package writes to descriptor 3 after it was loaded goes nowhere', (t) => {
  const late = 'setTimeout(() => { try { require("fs").writeSync(3, "{}"); } catch (e) { console.log(e.code); } }, 20)';
  const root = project(t, { x: { files: { 'index.js': late } } });
  const { stdout, data } = run(root, 'harness.js', ['x']);
  assert.equal(JSON.parse(data).ok, true);
  assert.equal(stdout, 'EBADF\n');
});

test('harness: a process that the package starts does not have descriptor 3', (t) => {
  const child = 'try { require("child_process").execSync("echo >&3", { stdio: ["ignore", "pipe", "pipe"] }); console.log("open"); } catch { console.log("closed"); }';
  const root = project(t, { x: { files: { 'index.js': child } } });
  const { stdout, data } = run(root, 'harness.js', ['x']);
  assert.equal(stdout, 'closed\n');
  assert.equal(JSON.parse(data).ok, true);
});

test('the netbenign fixture goes on when its download is not there', (t) => {
  const root = project(t, {});
  fs.cpSync('tests/fixtures/netbenign', path.join(root, 'node_modules/netbenign'), { recursive: true });
  const { code, stdout } = run(root, 'rebuild.js', ['node_modules/netbenign']);
  assert.equal(code, 0);
  assert.match(stdout, /> qp-fixture-netbenign@1\.0\.0 install\n> node check\.js\n/);
  assert.match(stdout, /\[fixture-netbenign\] prebuilt check: E[A-Z_]+, building from source instead\n/);
});
