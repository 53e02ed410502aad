// SPDX-License-Identifier: Apache-2.0
// qp-sinkhole on namespaces that somebody made for other ends: of one family, with links of their
// own. These must be as they were, whatever ends the sinkhole.
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build, has, program, sinkhole } from "./lib/sinkhole.mjs";

const root = process.getuid() === 0;
const ip = (...args) => execFileSync("ip", args, { encoding: "utf8" });
const own = (name) => !["lo", "eth0"].includes(name);

// All that the namespace has but for loopback and the sinkhole's interface.
function possessions(name) {
  const list = (...args) => JSON.parse(ip("-n", name, "-j", ...args));
  const links = list("addr").filter((link) => own(link.ifname)).map(({ ifname, flags, addr_info }) => (
    { ifname, flags, addresses: addr_info.map((a) => `${a.local}/${a.prefixlen}`) }));
  const routes = ["-4", "-6"].map((family) => list(family, "route", "show", "table", "all")
    .filter((route) => own(route.dev)).map((route) => JSON.stringify(route)));
  const rules = ["-4", "-6"].map((family) => ip("-n", name, family, "rule"));
  const nft = execFileSync("ip", ["netns", "exec", name, "nft", "list", "ruleset"], { encoding: "utf8" });
  return { links, routes, rules, nft };
}

// The kernel takes a namespace down some time after its last process has ended.
async function withoutSinkhole(name) {
  while (JSON.parse(ip("-n", name, "-j", "link")).some((link) => link.ifname === "eth0"))
    await new Promise((done) => setTimeout(done, 10));
}

// A link to another machine, which is the way out: wan0, its default routes of unusual metrics.
function connect(name) {
  const far = `${name}-far`;
  ip("netns", "add", far);
  ip("-n", name, "link", "add", "wan0", "type", "veth", "peer", "name", "wan0", "netns", far);
  [[name, 1], [far, 2]].forEach(([where, host]) => {
    ip("-n", where, "addr", "add", `192.0.2.${host}/24`, "dev", "wan0");
    ip("-n", where, "addr", "add", `2001:db8:99::${host}/64`, "dev", "wan0", "nodad");
    ip("-n", where, "link", "set", "wan0", "up", "addrgenmode", "none");
  });
  ip("-n", far, "link", "set", "lo", "up");
  ip("-n", far, "addr", "add", "203.0.113.7/32", "dev", "lo");
  ip("-n", far, "addr", "add", "2001:db8:5::7/128", "dev", "lo", "nodad");
  ip("-n", name, "route", "add", "default", "via", "192.0.2.2", "metric", "100");
  ip("-n", name, "-6", "route", "add", "default", "via", "2001:db8:99::2", "metric", "2048");
  return far;
}

const ping = (name, ...args) => spawnSync("ip", ["netns", "exec", name, "ping", "-n", "-c1", "-W5",
  ...args], { encoding: "utf8" });

describe("qp-sinkhole alone", { skip: root ? false : "needs root" }, () => {
  test("gives a namespace IPv6 and nothing of IPv4", async () => {
    let addresses, routes, ready, told;
    const { records, end } = await sinkhole(["--ipv6-only"], async (box) => {
      ready = box.ready;
      addresses = JSON.parse(ip("-n", box.name, "-j", "addr", "show", "eth0"))[0].addr_info;
      routes = JSON.parse(ip("-n", box.name, "-j", "-4", "route"));
      told = await box.run(`
        import dns from "node:dns";
        import net from "node:net";
        const resolver = new dns.promises.Resolver();
        resolver.setServers(["[2001:db8:17:4::1]"]);
        const [address] = await resolver.resolve6("six.example");
        const ask = (host, port) => new Promise((done) => {
          const socket = net.connect(port, host, () => socket.end("GET /six HTTP/1.0\\r\\n\\r\\n"));
          let text = "";
          socket.on("data", (piece) => { text += piece; }).on("error", (e) => done(e.code))
            .on("close", () => done(text.split("\\r")[0]));
        });
        tell([address, await ask(address, 80), await ask("203.0.113.7", 80)]);`);
    });
    assert.deepEqual(ready.addresses, ["2001:db8:17:4::11"]);
    assert.deepEqual(addresses.map((a) => a.local), ["2001:db8:17:4::11"]);
    assert.deepEqual(routes, []);
    assert.deepEqual(told, ["fd00::c612:1", "HTTP/1.1 403 Forbidden", "ENETUNREACH"]);
    assert.deepEqual(records.map((r) => r.type).sort(), ["dns", "tcp"]);
    has(records.find((r) => r.type === "tcp"), { srcIp: "2001:db8:17:4::11", protocol: "http",
      dstIp: "fd00::c612:1", dstName: "six.example", path: "/six" });
    has(end, { flushed: true, lost: 0 });
  });

  for (const signal of ["SIGTERM", "SIGINT"]) {
    test(`leaves other links and routes as they are until ${signal} and after it`, async () => {
      let far, before;
      const during = [];
      try {
        const { records } = await sinkhole([], async (box) => {
          during.push(possessions(box.name));
          assert.deepEqual(box.ready.otherLinks, ["wan0"]);
          // By its own way out it reaches the other machine still; by the sinkhole's, nobody.
          for (const to of ["203.0.113.7", "2001:db8:5::7"])
            assert.equal(ping(box.name, to).status, 0, to);
          assert.equal(ping(box.name, "-I", "eth0", "198.51.100.9").status, 0);
        }, { signal,
          prepare: (name) => { far = connect(name); before = possessions(name); },
          settled: async (name) => {
            await withoutSinkhole(name);
            during.push(possessions(name));
            assert.equal(ping(name, "203.0.113.7").status, 0);
          } });
        during.forEach((state) => assert.deepEqual(state, before));
        assert.deepEqual(records.map((r) => [r.type, r.dstIp]), [["packet", "198.51.100.9"]]);
      } finally {
        if (far)
          ip("netns", "del", far);
      }
    });
  }

  test("leaves nothing behind when it is killed", async () => {
    const name = `qp-test-${process.pid}-killed`;
    ip("netns", "add", name);
    const far = connect(name);
    try {
      const before = possessions(name);
      const child = spawn(program, ["--netns", name], { stdio: ["ignore", "pipe", "ignore"] });
      await new Promise((ready) => child.stdout.once("data", ready));
      child.kill("SIGKILL");
      await new Promise((done) => child.on("close", done));
      await withoutSinkhole(name);
      assert.deepEqual(possessions(name), before);
    } finally {
      ip("netns", "del", name);
      ip("netns", "del", far);
    }
  });

  test("touches nothing where routes would get in each other's way", async () => {
    const name = `qp-test-${process.pid}-overlap`;
    ip("netns", "add", name);
    const far = connect(name);
    const cases = [["10.23.0.0/16", "10\\.23\\.0\\.0/16.*--address and --gateway"],
      ["10.23.4.1/32", "10\\.23\\.4\\.1.*--address"],
      ["2001:db8:17::/48", "2001:db8:17::/48.*--address6 and --gateway6"]];
    try {
      for (const [route, message] of cases) {
        const via = route.includes(":") ? "2001:db8:99::2" : "192.0.2.2";
        ip("-n", name, "route", "add", route, "via", via);
        const before = possessions(name);
        const result = spawnSync(program, ["--netns", name], { encoding: "utf8" });
        assert.equal(result.status, 3, result.stderr);
        assert.match(result.stderr, new RegExp(message));
        assert.equal(result.stdout, "");
        await withoutSinkhole(name);
        assert.deepEqual(possessions(name), before);
        ip("-n", name, "route", "del", route, "via", via);
      }
    } finally {
      ip("netns", "del", name);
      ip("netns", "del", far);
    }
  });

  test("refuses to leave out both families", () => {
    const result = spawnSync(program, ["--netns", "a", "--ipv4-only", "--ipv6-only"], { encoding: "utf8" });
    assert.equal(result.status, 2);
    assert.match(result.stderr, /--ipv4-only and --ipv6-only/);
  });
});

test("the manual has every option that --help has, and is installed", () => {
  const page = readFileSync("docs/qp-sinkhole.1", "utf8").replaceAll("\\-", "-");
  const options = execFileSync(program, ["--help"], { encoding: "utf8" }).matchAll(/^\s+(--[a-z0-9-]+)/gm);
  const names = [...options].map((match) => match[1]);
  assert.ok(names.length > 10, `${names}`);
  const described = (name) => page.split(".SH OPTIONS")[1].split(".SH PRIVILEGES")[0].split(/\n\.TP\n/)
    .some((entry) => new RegExp(`${name}(?![a-z0-9-])`).test(entry.split("\n")[0]));
  assert.deepEqual(names.filter((name) => !described(name)), []);
  const target = mkdtempSync(path.join(tmpdir(), "qp-test-"));
  try {
    execFileSync("make", ["-s", "install", `DESTDIR=${target}`, "PREFIX=/usr", `B=${build}`], { stdio: "pipe" });
    assert.ok(existsSync(path.join(target, "usr/share/man/man1/qp-sinkhole.1")));
  } finally {
    rmSync(target, { recursive: true });
  }
});
