// SPDX-License-Identifier: Apache-2.0
// qp-sinkhole against real clients in a network namespace: what was sent is what is recorded.
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build, has, program, sinkhole, workplace } from "./lib/sinkhole.mjs";

const root = process.getuid() === 0;

// The probe that sends what node cannot.
const packets = (box, ...args) => execFileSync("ip",
  ["netns", "exec", box.name, path.resolve(build, "probes", "packets"), ...args],
  { encoding: "utf8" });

describe("qp-sinkhole", { skip: root ? false : "needs root" }, () => {
  test("answers names and HTTP by name, over IPv4 first", async () => {
    let told;
    const { records, end } = await sinkhole([], async (box) => {
      told = await box.run(`
        import http from "node:http";
        const ask = (method, path, headers, ...pieces) => new Promise((done, failed) => {
          const request = http.request({ host: "downloads.qp-fixture.example", method, path,
            headers, agent: false }, (response) => {
              response.resume().on("end", () => done(
                { status: response.statusCode, port: request.port }));
            });
          request.on("socket", (s) => s.on("connect", () => { request.port = s.localPort; }));
          request.on("error", failed);
          pieces.forEach((piece) => request.write(piece));
          request.end();
        });
        tell([await ask("GET", "/prebuilt/v1/linux-x64.json", {}),
          await ask("POST", "/chunked", {}, "abc", "defgh", "i".repeat(70000)),
          await ask("PUT", "/length", { "content-length": 11 }, "hello world")]);`);
    });
    assert.deepEqual(told.map((x) => x.status), [403, 403, 403]);
    const names = records.filter((r) => r.type === "dns");
    assert.ok(names.some((r) => r.qtype === 1 && r.answer === "198.18.0.1"));
    assert.ok(names.some((r) => r.qtype === 28 && r.answer === "fd00::c612:1"));
    names.forEach((r) => has(r, { name: "downloads.qp-fixture.example", proto: "udp",
      srcIp: "10.23.4.17", dstIp: "10.23.4.1", dstPort: 53 }));
    const tcp = records.filter((r) => r.type === "tcp");
    assert.equal(tcp.length, 3);
    const common = { dstIp: "198.18.0.1", dstPort: 80, protocol: "http", srcIp: "10.23.4.17",
      dstName: "downloads.qp-fixture.example", host: "downloads.qp-fixture.example" };
    has(tcp[0], { ...common, srcPort: told[0].port, method: "GET", payloadBytes: 0,
      path: "/prebuilt/v1/linux-x64.json", chunked: false });
    has(tcp[1], { ...common, srcPort: told[1].port, method: "POST", payloadBytes: 70008,
      path: "/chunked", chunked: true });
    has(tcp[2], { ...common, srcPort: told[2].port, method: "PUT", payloadBytes: 11,
      path: "/length", chunked: false });
    has(end, { flushed: true, dropped: 0, lost: 0 });
  });

  test("answers HTTP of both versions from a table", async () => {
    const table = path.join(workplace(), "respond.json");
    writeFileSync(table, JSON.stringify([
      { method: "POST", path: "/login", status: 302, headers: { Location: "/home" } },
      { host: "cdn.example*", path: "/*.json", status: 200, headers: { "Content-Type": "application/json" }, body: "{}" }]));
    let told;
    const { records } = await sinkhole(["--respond", table], async (box) => {
      told = await box.run(`
        import http from "node:http";
        import http2 from "node:http2";
        const asked = [["GET", "/a.json"], ["POST", "/login"], ["GET", "/other"]];
        const one = ([method, path]) => new Promise((done, failed) => {
          http.request({ host: "cdn.example", method, path }, (response) => {
            let text = "";
            response.on("data", (piece) => { text += piece; }).on("end", () => done([response.statusCode,
              response.headers["content-type"], response.headers.location ?? null, text.slice(0, 6)]));
          }).on("error", failed).end();
        });
        const session = http2.connect("http://cdn.example");
        const two = ([method, path]) => new Promise((done, failed) => {
          const request = session.request({ ":method": method, ":path": path });
          let text = "", h;
          request.on("response", (headers) => { h = headers; }).on("data", (piece) => { text += piece; })
            .on("end", () => done([h[":status"], h["content-type"], h.location ?? null, text.slice(0, 6)]))
            .on("error", failed).end();
        });
        const answers = [[], []];
        for (const question of asked) {
          answers[0].push(await one(question));
          answers[1].push(await two(question));
        }
        await new Promise((done) => session.close(done));
        tell(answers);`);
    });
    const answers = [[200, "application/json", null, "{}"], [302, "text/html", "/home", ""],
      [403, "text/html", null, "<html>"]];
    assert.deepEqual(told, [answers, answers]);
    assert.equal(records.filter((r) => r.protocol === "http").length, 6);
  });

  test("speaks HTTP/2 to who knows beforehand", async () => {
    let told;
    const { records } = await sinkhole([], async (box) => {
      told = await box.run(`
        import http2 from "node:http2";
        const session = http2.connect("http://h2.example:8080");
        const ask = (headers, body) => new Promise((done, failed) => {
          const request = session.request(headers);
          let status;
          request.on("response", (h) => { status = h[":status"]; }).on("error", failed);
          request.resume().on("end", () => done(status)).end(body);
        });
        const statuses = await Promise.all([ask({ ":path": "/a" }),
          ask({ ":path": "/b", ":method": "POST", "x-odd": "1" }, "x".repeat(100003)),
          ask({ ":path": "/c" })]);
        await new Promise((done) => session.close(done));
        tell(statuses);`);
    });
    assert.deepEqual(told, [403, 403, 403]);
    const tcp = records.filter((r) => r.type === "tcp");
    assert.deepEqual(tcp.map((r) => [r.method, r.path, r.payloadBytes, r.httpVersion]).sort(),
      [["GET", "/a", 0, "2"], ["GET", "/c", 0, "2"], ["POST", "/b", 100003, "2"]]);
    tcp.forEach((r) => has(r, { protocol: "http", host: "h2.example:8080", dstPort: 8080,
      dstName: "h2.example" }));
  });

  test("records TCP of every port and family with its own destination", async () => {
    const sent = [
      ["203.0.113.7", 443, ""],
      ["203.0.113.7", 1, "raw\0bytes\u{ff}"],
      ["169.254.169.254", 65535, "x".repeat(100003)],
      ["10.23.4.99", 22, "a neighbour"],
      ["10.23.4.1", 25, "the gateway"],
      ["2001:db8:1::7", 8443, "six"],
      ["2001:db8:17:4::99", 5432, ""],
      ["fd00::c612:9", 6379, "*1\r\n$4\r\nPING\r\n"],
    ];
    let ports;
    const { records } = await sinkhole([], async (box) => {
      ports = await box.run(`
        import net from "node:net";
        const ports = [];
        for (const [host, port, text] of JSON.parse(process.argv[2])) {
          const socket = net.connect(port, host);
          await new Promise((done, failed) => socket.on("connect", done).on("error", failed));
          ports.push(socket.localPort);
          socket.end(Buffer.from(text, "latin1"));
          await new Promise((done) => socket.resume().on("close", done));
        }
        tell(ports);`, JSON.stringify(sent));
    });
    assert.equal(records.length, sent.length);
    sent.forEach(([dstIp, dstPort, text], i) => {
      has(records[i], { type: "tcp", dstIp, dstPort, srcPort: ports[i],
        srcIp: dstIp.includes(":") ? "2001:db8:17:4::11" : "10.23.4.17", dstName: null,
        bytesReceived: text.length,
        protocol: !text ? "none" : dstPort === 6379 ? "redis" : "unknown" });
    });
    assert.equal(records[1].firstBytes, "raw\\x00bytes\\xff");
    assert.equal(records[2].firstBytes, "x".repeat(256));
  });

  test("finds the sandbox again when its neighbour entry is gone", async () => {
    const { records } = await sinkhole([], async (box) => {
      for (const port of [1001, 1002]) {
        await box.run(`
          import net from "node:net";
          const socket = net.connect(${port}, "2001:db8:1::7");
          await new Promise((done, failed) => socket.on("connect", done).on("error", failed));
          socket.end();`);
        execFileSync("nsenter", ["-t", `${box.child.pid}`, "-n", "ip", "-6", "neigh", "flush", "dev", "eth0"]);
      }
    });
    assert.deepEqual(records.map((r) => r.dstPort), [1001, 1002]);
  });

  // The kernel itself refuses TCP to a group of hosts; all else that leaves is a record.
  test("records what is sent to addresses of every kind, but to the sandbox itself", async () => {
    const away = ["240.0.0.1", "169.254.169.254", "169.254.1.2", "192.0.2.255", "10.23.4.1",
      "64:ff9b::1", "fe80::1%eth0", "fe80::1:2:3%eth0", "febf::9%eth0", "fd00::1"];
    const groups = ["224.0.0.251", "255.255.255.255", "10.23.4.255", "ff02::1%eth0", "ff0e::1%eth0"];
    const own = ["127.0.0.1", "127.9.9.9", "::1", "10.23.4.17", "2001:db8:17:4::11"];
    let told;
    const { records } = await sinkhole([], async (box) => {
      told = await box.run(`
        import dgram from "node:dgram";
        import net from "node:net";
        const [away, groups, own] = JSON.parse(process.argv[2]);
        const connect = (host) => new Promise((done) => {
          const socket = net.connect(7777, host, () => { socket.end(); done("ok"); });
          socket.on("error", (error) => done(error.code));
        });
        const send = (host) => new Promise((done, failed) => {
          const socket = dgram.createSocket(host.includes(":") ? "udp6" : "udp4");
          socket.on("error", () => {});
          socket.bind(0, () => {
            socket.setBroadcast(true);
            socket.send("x", 7778, host, (error) => { socket.close(); error ? failed(error) : done(); });
          });
        });
        const connected = [];
        for (const host of [...away, ...own]) connected.push(await connect(host));
        for (const host of [...away, ...groups, ...own]) await send(host);
        tell(connected);`, JSON.stringify([away, groups, own]));
    });
    assert.deepEqual(told, [...away.map(() => "ok"), ...own.map(() => "ECONNREFUSED")]);
    const to = (type) => records.filter((r) => r.type === type).map((r) => r.dstIp).sort();
    const plain = (list) => list.map((host) => host.split("%")[0]).sort();
    assert.deepEqual(to("tcp"), plain(away));
    assert.deepEqual(to("udp"), plain([...away, ...groups]));
  });

  test("reads the server name and protocols of TLS and refuses", async () => {
    let told;
    const { records } = await sinkhole([], async (box) => {
      told = await box.run(`
        import tls from "node:tls";
        const ask = (options) => new Promise((done) => {
          const socket = tls.connect({ host: "203.0.113.8", port: 8443, ...options });
          socket.on("error", (error) => done(error.code)).on("secureConnect", () => done("up"));
        });
        tell([await ask({ servername: "sni.example", ALPNProtocols: ["h2", "http/1.1"] }),
          await ask({ servername: "", maxVersion: "TLSv1.2" })]);`);
    });
    assert.deepEqual(told, Array(2).fill("ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE"));
    assert.equal(records.length, 2);
    has(records[0], { protocol: "tls", sni: "sni.example", alpn: ["h2", "http/1.1"],
      dstIp: "203.0.113.8", dstPort: 8443, bytesAfterHello: 0, versions: ["1.3", "1.2"] });
    assert.match(records[0].ja4, /^t13d\d{4}h2_[0-9a-f]{12}_[0-9a-f]{12}$/);
    assert.match(records[1].ja4, /^t12i\d{4}00_/);
    has(records[1], { protocol: "tls", sni: null, alpn: [] });
  });

  test("records datagrams, and answers DNS on any port from that port", async () => {
    let told;
    const { records } = await sinkhole([], async (box) => {
      told = await box.run(`
        import dgram from "node:dgram";
        import { Resolver } from "node:dns/promises";
        const send = async (family, text, port, host) => {
          const socket = dgram.createSocket(family);
          await new Promise((done) => socket.send(text, port, host, done));
          const { port: source } = socket.address();
          socket.close();
          return source;
        };
        const resolver = new Resolver({ timeout: 2000, tries: 1 });
        const answers = [];
        for (const server of ["198.51.100.9:53", "192.0.2.1:9953", "[2001:db8:2::1]:53"]) {
          resolver.setServers([server]);
          answers.push(await resolver.resolve4("a.example"), await resolver.resolve6("b.example"));
        }
        const empty = await resolver.resolveNaptr("a.example").catch((error) => error.code);
        resolver.setServers(["198.51.100.9:53"]);
        const more = [await resolver.resolveMx("a.example"), await resolver.resolveTxt("a.example"),
          await resolver.resolveSrv("_ldap._tcp.a.example"), await resolver.resolveNs("a.example"),
          await resolver.reverse("198.18.0.1"), await resolver.resolve4("www.a.example"),
          await resolver.reverse("203.0.113.99").catch((error) => error.code)];
        tell({ answers, empty, more, ports: [await send("udp4", "junk", 53, "198.51.100.9"),
          await send("udp4", "to nobody", 9999, "198.51.100.9"),
          await send("udp6", "six", 9999, "2001:db8:3::1"),
          await send("udp4", "group", 5353, "224.0.0.251"),
          await send("udp4", "", 1234, "203.0.113.9"),
          await send("udp4", "f".repeat(20003), 1235, "203.0.113.9"),
          await send("udp6", "f".repeat(60007), 1236, "2001:db8:5::1")] });`);
    });
    assert.deepEqual(told.answers, Array(3).fill([["198.18.0.1"], ["fd00::c612:2"]]).flat());
    assert.equal(told.empty, "ENODATA");
    assert.deepEqual(told.more, [[{ exchange: "mail.a.example", priority: 10 }], [["v=spf1 -all"]],
      [{ name: "a.example", port: 389, priority: 10, weight: 5 }], ["ns1.a.example"],
      ["a.example"], ["198.18.0.3"], "ENOTFOUND"]);
    has(records.filter((r) => r.type === "dns")[2],
      { dstIp: "192.0.2.1", dstPort: 9953, name: "a.example", qtype: 1, answer: "198.18.0.1" });
    has(records.find((r) => r.qtype === 35), { answer: null });
    has(records.find((r) => r.qtype === 15), { answer: "10 mail.a.example" });
    has(records.find((r) => r.type === "malformed"), { proto: "udp", protocol: "dns", bytes: 4,
      srcPort: told.ports[0], dstPort: 53 });
    const udp = records.filter((r) => r.type === "udp");
    assert.equal(udp.length, 7);
    [["198.51.100.9", 53, "junk"], ["198.51.100.9", 9999, "to nobody"],
      ["2001:db8:3::1", 9999, "six"], ["224.0.0.251", 5353, "group"],
      ["203.0.113.9", 1234, ""], ["203.0.113.9", 1235, "f".repeat(20003)],
      ["2001:db8:5::1", 1236, "f".repeat(60007)]].forEach(([dstIp, dstPort, text], i) => {
      const record = udp.find((r) => r.srcPort === told.ports[i] && r.dstIp === dstIp);
      has(record, { dstPort, firstBytes: text.slice(0, 256), bytes: text.length });
    });
  });

  test("records other protocols, and nothing that the kernel says by itself", async () => {
    const asked = ["192.0.2.55", "10.23.4.99", "2001:db8:4::1", "2001:db8:17:4::99"];
    const { records } = await sinkhole([], async (box) => {
      // Echo requests are answered, whoever is asked; SCTP is only seen.
      assert.deepEqual(packets(box, "echo", ...asked).trim().split("\n"), asked);
      packets(box, "proto", "132", "203.0.113.5");
    });
    assert.deepEqual(records.map((r) => [r.type, r.l4, r.dstIp, r.bytes]), [
      ["packet", 1, asked[0], 28], ["packet", 1, asked[1], 28],
      ["packet", 58, asked[2], 48], ["packet", 58, asked[3], 48],
      ["packet", 132, "203.0.113.5", 24]]);
  });

  test("counts every one of 2,003 quick connections, with and without data", async () => {
    const { records, end } = await sinkhole([], (box) => box.run(`
      import net from "node:net";
      let next = 0;
      const worker = async () => {
        while (next < 2003) {
          const i = next++;
          const socket = net.connect(4000 + i, "203.0.113.7");
          await new Promise((done, failed) => socket.on("connect", done).on("error", failed));
          if (i % 3 === 0) socket.resetAndDestroy();
          else socket.end(i % 3 === 1 ? "x".repeat(i) : "");
          await new Promise((done) => socket.resume().on("close", done));
        }
      };
      await Promise.all(Array.from({ length: 31 }, worker));`));
    const byPort = new Map(records.map((r) => [r.dstPort, r]));
    assert.equal(records.length, 2003);
    assert.equal(byPort.size, 2003);
    for (let i = 0; i < 2003; i++) {
      has(byPort.get(4000 + i), i % 3 === 1 ? { bytesReceived: i, protocol: "unknown" }
        : { bytesReceived: 0, protocol: "none" });
    }
    has(end, { flushed: true, lost: 0 });
  });

  test("records a connection that was given up before it stood", async () => {
    const { records } = await sinkhole([], (box) => {
      packets(box, "giveup", "203.0.113.7", "7000", "7100");
    });
    assert.deepEqual(records.map((r) => r.dstPort).sort(), Array.from({ length: 101 },
      (_, i) => 7000 + i));
    records.forEach((r) => has(r, { type: "tcp", protocol: "none", bytesReceived: 0 }));
  });

  test("writes open connections down when it is told to end", async () => {
    const client = [];
    const { records, end } = await sinkhole([], async (box) => {
      const child = spawn("ip", ["netns", "exec", box.name, process.execPath, "-e", `
        const net = require("node:net");
        const socket = net.connect(4444, "203.0.113.7", () =>
          socket.write("never ended", () => console.log("sent")));`],
      { stdio: ["ignore", "pipe", "inherit"] });
      client.push(child);
      await new Promise((done) => child.stdout.once("data", done));
    });
    client.forEach((child) => child.kill("SIGKILL"));
    assert.equal(records.length, 1);
    has(records[0], { protocol: "unknown", bytesReceived: 11, firstBytes: "never ended" });
    assert.equal(end.flushed, true);
  });

  test("holds at most 128 MiB of what connections withhold", async () => {
    // Each is a ClientHello that never becomes whole: 60,000 bytes must be kept.
    let peak = 0;
    const { records, end } = await sinkhole([], async (box) => {
      await box.run(`
        import net from "node:net";
        const record = Buffer.alloc(16389, 1);
        record.set([22, 3, 1, 64, 0]);
        const head = Buffer.from([22, 3, 1, 0, 4, 1, 0, 255, 252]);
        const text = Buffer.concat([head, record, record, record]);
        const sockets = await Promise.all(Array.from({ length: 3001 }, (_, i) =>
          new Promise((done, failed) => {
            const socket = net.connect(10000 + i, "203.0.113.7");
            socket.on("error", () => {});
            socket.on("connect", () => socket.write(text, () => done(socket)));
          })));
        await new Promise((done) => setTimeout(done, 500));
        sockets.forEach((socket) => socket.destroy());`);
      peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${box.child.pid}/status`))[1]);
    });
    assert.ok(peak < (128 + 32) * 1024, `${peak} KiB`);
    const tcp = records.filter((r) => r.type === "tcp");
    assert.equal(tcp.length, 3001);
    assert.ok(tcp.some((r) => r.early));
    assert.ok(tcp.some((r) => !r.early));
    assert.equal(end.flushed, true);
  });

  test("keeps no privilege and no way out", async () => {
    await sinkhole([], (box) => {
      const status = readFileSync(`/proc/${box.child.pid}/status`, "utf8");
      assert.match(status, /^Uid:\t65534\t65534\t65534\t65534$/m);
      assert.match(status, /^Groups:\t\s*$/m);
      for (const set of ["Inh", "Prm", "Eff", "Bnd", "Amb"])
        assert.match(status, new RegExp(`^Cap${set}:\\t0+$`, "m"));
      assert.match(status, /^NoNewPrivs:\t1$/m);
      assert.match(status, /^Seccomp:\t2$/m);
      const links = execFileSync("nsenter", ["-t", `${box.child.pid}`, "-n", "ip", "-br", "link"],
        { encoding: "utf8" });
      assert.deepEqual(links.trim().split("\n").map((l) => l.split(/[ @]/)[0]).sort(),
        ["eth0", "lo"]);
    });
  });

  test("takes a process or a descriptor for a name, and other addresses", () => {
    const holder = spawn("unshare", ["-n", "sh", "-c", "echo up; exec sleep 30"],
      { stdio: ["ignore", "pipe", "inherit"] });
    return new Promise((done) => holder.stdout.once("data", done)).then(async () => {
      const out = path.join(workplace(), "out.jsonl");
      const child = spawn("sh", ["-c", 'exec "$0" "$@" 7<"/proc/$PID/ns/net"', program,
        "--netns-fd", "7", "--address", "192.168.7.2/30", "--gateway", "192.168.7.1",
        "--ipv4-only", "--out", out],
      { stdio: "inherit", env: { ...process.env, PID: `${holder.pid}` } });
      const ended = new Promise((ok) => child.on("close", ok));
      try {
        while (!spawnSync("cat", [out]).stdout.includes("ready")) {
          assert.equal(child.exitCode, null);
          await new Promise((ok) => setTimeout(ok, 10));
        }
        const addresses = execFileSync("nsenter", ["-t", `${holder.pid}`, "-n", "ip", "-br", "addr",
          "show", "eth0"], { encoding: "utf8" });
        assert.match(addresses, /192\.168\.7\.2\/30\s*$/);
      } finally {
        child.kill("SIGINT");
        holder.kill("SIGKILL");
      }
      assert.equal(await ended, 0);
      const [ready] = readFileSync(out, "utf8").split("\n");
      assert.deepEqual(JSON.parse(ready).addresses, ["192.168.7.2"]);
    });
  });

  test("says what is wrong and how to mend it", () => {
    const refuse = (status, pattern, ...args) => {
      const result = spawnSync(program, args, { encoding: "utf8" });
      assert.equal(result.status, status, result.stderr);
      assert.match(result.stderr, pattern);
      assert.equal(result.stdout, "");
    };
    refuse(2, /--netns, --pid and --netns-fd/);
    refuse(2, /one of/, "--netns", "a", "--pid", "1");
    refuse(2, /unknown option/, "--nonsense");
    refuse(2, /unexpected operand 'x'/, "--netns", "a", "x");
    refuse(2, /whole number/, "--pid", "12x");
    refuse(2, /no name for an interface/, "--netns", "a", "--interface", "a/b");
    refuse(3, /ip netns add/, "--netns", "qp-test-absent");
    refuse(3, /as `ip netns list` prints it/, "--netns", "../etc");
    refuse(3, /own/, "--pid", `${process.pid}`);
    refuse(3, /no network namespace/, "--netns-fd", "0");
    const name = `qp-test-${process.pid}-bad`;
    execFileSync("ip", ["netns", "add", name]);
    try {
      refuse(3, /'10\.0\.0' is no IPv4 address|'10\.0\.0\.300' is no IPv4 address/, "--netns",
        name, "--address", "10.0.0.300");
      refuse(3, /exists already/, "--netns", name, "--out", "/etc/passwd");
      execFileSync("ip", ["-n", name, "link", "add", "eth9", "type", "veth"]);
      refuse(3, /--interface/, "--netns", name, "--interface", "eth9");
    } finally {
      execFileSync("ip", ["netns", "del", name]);
    }
  });
});
