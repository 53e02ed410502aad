// SPDX-License-Identifier: Apache-2.0
// The evidence log is documented to the byte: a reader that knows nothing but the tables of
// docs/kernel-records.md finds in a log what qp log prints.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import zlib from 'node:zlib';
import { qp, receiptOf } from './lib/qp.mjs';

const LOG_HEAD = 12;
const RECORD_HEAD = 8;
const EVENT_HEAD = 56;
const EVENT = 2;
const BODIES = { fork: 'fork', exec: 'exec', exit: 'exit', call: 'call', enter: 'call', sockaddr: 'sockaddr', object: 'object', move: 'move' };
const SCRIPT = 'cd /tmp; mkdir -p a/b; mv a c; rm -r c; getent hosts a.example; cat /none; node -e "process.env.A; '
  + 'require(\'net\').connect(80, \'192.0.2.9\', process.exit)"; exit 3';

const doc = fs.readFileSync('docs/kernel-records.md', 'utf8');

// {name: [{at, type, name}]} of the tables below "### name".
const tables = Object.fromEntries(doc.split(/^### /m).slice(1).map((part) => [part.split('\n')[0],
  [...part.matchAll(/^\| (\d+) \| ([ui]\d+|16 bytes) \| (\w+) \|/gm)].map(([, at, type, name]) => ({ at: Number(at), type, name }))]));

const bytesOf = ({ type }) => (type === '16 bytes' ? 16 : Number(type.slice(1)) / 8);
const sizeOf = (name) => Math.max(...tables[name].map((row) => row.at + bytesOf(row)));

// "1 fork, 2 exec": {1: 'fork', 2: 'exec'}
const numbered = (row) => Object.fromEntries([...new RegExp(`\\| ${row} \\| (\\d.*) \\|$`, 'm').exec(doc)[1]
  .matchAll(/(\d+) (\w+)/g)].map(([, number, name]) => [number, name]));
const types = numbered('type');
const abis = numbered('abi');
const hooks = numbered('hook');
const kinds = Object.fromEntries([...doc.split('| kind | name | data |')[1].split('\n\n')[0]
  .matchAll(/^\| (\d+) \| (\w+) \|/gm)].map(([, number, name]) => [number, name]));

// sizeof, as the compiler has checked it.
const sizes = Object.fromEntries([...fs.readFileSync('bpf/event.h', 'utf8').matchAll(/sizeof\(struct qp_(\w+)\) == (\d+)/g)]
  .map(([, name, bytes]) => [name, Number(bytes)]));

function read(bytes, { at, type }) {
  const bits = Number(type.slice(1));
  if (type === '16 bytes') return bytes.subarray(at, at + 16);
  if (bits === 64) return Number(type[0] === 'i' ? bytes.readBigInt64LE(at) : bytes.readBigUInt64LE(at));
  return type[0] === 'i' ? bytes.readIntLE(at, bits / 8) : bytes.readUIntLE(at, bits / 8);
}
const parse = (name, bytes) => Object.fromEntries(tables[name].map((row) => [row.name, read(bytes, row)]));

function fieldsOf(bytes) {
  const fields = [];
  for (let at = 0; at < bytes.length;) {
    const head = parse('field', bytes.subarray(at));
    const data = bytes.subarray(at + 8, at + 8 + head.len);
    fields.push({ ...head, kind: kinds[head.kind], data });
    at += 8 + Math.ceil(head.len / 8) * 8;
  }
  return fields;
}

function pathOf(data) {
  const path = parse('path', data);
  const names = data.subarray(24).toString('latin1').split('\0').slice(0, -1);
  assert.equal(names.length, path.levels);
  return { ...path, text: path.flags & 8 ? names[0] : `/${names.reverse().join('/')}` };
}

function checkField(field, printed) {
  const value = printed[field.kind];
  assert.notEqual(value, undefined, JSON.stringify(printed));
  if (field.role < 6) assert.equal(printed.arg, String(field.role));
  if (field.kind === 'string') assert.equal(field.data.toString('latin1'), value);
  if (field.kind === 'argv') assert.deepEqual(field.data.toString('latin1').split('\0').slice(0, -1), value);
  if (field.kind === 'path') {
    const path = pathOf(field.data);
    assert.deepEqual([path.text, path.ino, path.dev, path.mode, path.fsmagic],
      [value.path, value.ino, value.dev, value.mode, value.fsmagic]);
  }
  if (field.kind === 'sock') {
    const sock = parse('sock', field.data);
    for (const name of ['family', 'type', 'protocol', 'state', 'cookie']) assert.equal(sock[name], value[name], name);
    if (sock.family === 2) assert.equal(value.remote, `${[...sock.daddr.subarray(0, 4)].join('.')}:${sock.dport}`);
  }
}

function checkBody(name, body, printed) {
  const ofSockaddr = { hook: hooks[body.hook], address: body.family === 2 && `${[...(body.addr ?? []).subarray(0, 4)].join('.')}:${body.dport}` };
  const ofCall = { abi: abis[body.abi], args: printed.args };
  const ofExec = { memfd: Boolean(body.flags & 1) };
  const ofExit = { groupDead: Boolean(body.groupDead) };
  const wanted = { ...body, ...{ sockaddr: ofSockaddr, call: ofCall, exec: ofExec, exit: ofExit }[name] };
  for (const [key, value] of Object.entries(wanted)) {
    if (key in printed && key !== 'call' && value !== false) assert.deepEqual(value, printed[key], key);
  }
}

test('the tables of the document read a log as qp does', (t) => {
  const run = receiptOf(t, ['exec', '--', 'sh', '-c', SCRIPT]);
  const raw = zlib.gunzipSync(fs.readFileSync(run.log));
  const lines = qp(['log', run.log]).stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  const rows = new Map();
  const seen = new Set();
  let at = LOG_HEAD;
  for (const line of lines) {
    const [len, type] = [raw.readUInt32LE(at), raw.readUInt16LE(at + 4)];
    const payload = raw.subarray(at + RECORD_HEAD, at + RECORD_HEAD + len);
    at += RECORD_HEAD + len;
    if (type !== EVENT) continue;
    const head = parse('head', payload);
    const name = types[head.type];
    assert.equal(name, line.event);
    assert.equal(head.len, len);
    assert.equal(head.version, 1);
    for (const key of ['time_ns', 'seq', 'cgroup', 'cpu', 'tgid', 'tid', 'pid', 'nsTid', 'uid']) assert.equal(head[key], line[key], key);
    const table = BODIES[name];
    const rest = payload.subarray(EVENT_HEAD);
    if (table) {
      const body = parse(table, rest);
      checkBody(table, body, line);
      if (table === 'call') {
        assert.equal(rows.get(body.call) ?? line.call, line.call, 'a row is one call');
        rows.set(body.call, line.call);
        for (let i = 0; i < 6; i++) assert.equal(rest.readBigUInt64LE(24 + 8 * i), BigInt(line.args[i]));
      }
    }
    const fields = fieldsOf(rest.subarray(table ? sizeOf(table) : 0));
    assert.equal(fields.length, line.fields.length);
    fields.forEach((field, i) => { checkField(field, line.fields[i]); seen.add(field.kind); });
    seen.add(name);
  }
  assert.equal(at, raw.length);
  const names = [...fs.readFileSync('bpf/syscalls.def', 'utf8').matchAll(/^QP_CALL\((\w+),/gm)].map(([, name]) => name);
  for (const [row, call] of rows) assert.equal(names[row - 1], call, `row ${row}`);
  const { move, object, ...always } = BODIES; // nobody is moved in a sandbox, and not every kernel tells of objects
  assert.equal(seen.has('object'), run.receipt.evidence.tier === 'kernel-object');
  for (const table of new Set(Object.values(BODIES))) assert.equal(sizeOf(table), sizes[table], table);
  for (const what of [...Object.keys(always), 'env', 'path', 'string', 'argv', 'sock', 'payload']) assert.ok(seen.has(what), what);
});
