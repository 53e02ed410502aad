// SPDX-License-Identifier: Apache-2.0
// A qp-sinkhole on a network namespace of a test's own, and clients in it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export const build = process.env.QP_BUILD ?? "build";
export const program = path.join(build, "qp-sinkhole");
let folder, serial = 0;

// Where clients and what they read are written; made at the first call, gone with the process.
export function workplace() {
  if (!folder) {
    folder = mkdtempSync(path.join(tmpdir(), "qp-test-"));
    writeFileSync(path.join(folder, "resolv.conf"), "nameserver 10.23.4.1\noptions timeout:2\n");
    process.on("exit", () => rmSync(folder, { recursive: true }));
  }
  return folder;
}

// A sandbox's namespace with a sinkhole; calls body(box), ends the sinkhole, returns what it
// wrote. box.run runs JavaScript inside, with the sinkhole as its name server. prepare(name) comes
// before the sinkhole, settled(name) after it; `signal` ends it.
export async function sinkhole(options, body, { prepare, settled, signal = "SIGTERM" } = {}) {
  const name = `qp-test-${process.pid}-${serial++}`;
  execFileSync("ip", ["netns", "add", name]);
  try {
    prepare?.(name);
    const child = spawn(program, ["--netns", name, ...options],
      { stdio: ["ignore", "pipe", "pipe"] });
    let out = "", err = "";
    child.stderr.on("data", (text) => { err += text; });
    const ended = new Promise((done) => child.on("close", (code, signal) => done([code, signal])));
    try {
      await new Promise((ready, failed) => {
        child.stdout.on("data", (text) => { out += text; if (out.includes("\n")) ready(); });
        ended.then(() => failed(new Error(`ended early: ${err}`)));
      });
      await body({ name, child, ready: JSON.parse(out.split("\n")[0]), run: (code, ...args) => inside(name, code, args) });
    } finally {
      child.kill(signal);
    }
    assert.deepEqual(await ended, [0, null], err);
    assert.ok(out.endsWith("\n"));
    const records = out.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.equal(records[0].type, "ready");
    const end = records.pop();
    assert.equal(end.type, "end");
    assert.equal(end.records, records.length);
    records.shift();
    await settled?.(name);
    return { records, end };
  } finally {
    execFileSync("ip", ["netns", "del", name]);
  }
}

// Runs an ES module in the namespace; its result is what it passes to `tell`.
function inside(netns, code, args) {
  const file = path.join(workplace(), `client-${serial++}.mjs`);
  writeFileSync(file, `const tell = (x) => console.log(JSON.stringify(x));\n${code}`);
  return new Promise((done, failed) => {
    const child = spawn("nsenter", [`--net=/run/netns/${netns}`, "unshare", "-m", "sh", "-c",
      'mount --bind "$0" /etc/resolv.conf && exec "$@"', path.join(workplace(), "resolv.conf"),
      process.execPath, file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (text) => { out += text; });
    child.on("close", (code) => code === 0
      ? done(out.trim() ? JSON.parse(out) : undefined)
      : failed(new Error(`the client ended with ${code}`)));
  });
}

// The record has these members, whatever else it has.
export const has = (record, members) => assert.deepEqual(
  Object.fromEntries(Object.keys(members).map((key) => [key, record[key]])), members);

