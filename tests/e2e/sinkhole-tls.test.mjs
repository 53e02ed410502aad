// SPDX-License-Identifier: Apache-2.0
// qp-sinkhole --tls intercept against real clients: those that trust its authority are read,
// those that do not are recorded as refusing.
import { describe, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { has, program, sinkhole, workplace } from "./lib/sinkhole.mjs";

const root = process.getuid() === 0;
const address = "203.0.113.7";
// Clients are not to be told by this process's surroundings whom to trust.
const env = { PATH: process.env.PATH, HOME: "/nonexistent" };

const trust = (box) => {
  const file = path.join(workplace(), "ca.pem");
  writeFileSync(file, box.ready.ca);
  return file;
};
const client = (box, input, command, ...args) => spawnSync("ip",
  ["netns", "exec", box.name, command, ...args], { encoding: "utf8", input, env, timeout: 30000 });
const curl = (box, ...args) => client(box, undefined, "curl", "-s", "-o", "/dev/null", "-w",
  "%{http_version} %{http_code}", "--resolve", `h.example:443:${address}`, ...args,
  "https://h.example/up?a=1");

describe("qp-sinkhole --tls", { skip: root ? false : "needs root" }, () => {
  test("reads the requests of a node and a curl that trust it", async () => {
    const answers = [];
    const { records, end } = await sinkhole(["--tls", "intercept"], async (box) => {
      const ca = trust(box);
      for (const version of ["--http1.1", "--http2"]) {
        answers.push(curl(box, version, "--cacert", ca, "-d", "field=value").stdout);
      }
      answers.push(await box.run(`
        import https from "node:https";
        import { readFileSync } from "node:fs";
        const request = https.request({ host: "n.example", path: "/n", method: "PUT",
          ca: readFileSync(${JSON.stringify(ca)}), headers: { "x-a": "b" } }, (response) => {
            tell(response.statusCode);
            response.resume();
          });
        request.end("hello");`));
    });
    assert.deepEqual(answers, ["1.1 403", "2 403", 403]);
    const tls = records.filter((r) => r.protocol === "tls");
    const http = records.filter((r) => r.protocol === "http" && r.method);
    assert.deepEqual(tls.map((r) => [r.sni, r.handshake, r.version, r.alpnChosen, r.dstPort]), [
      ["h.example", "accepted", "TLSv1.3", "http/1.1", 443],
      ["h.example", "accepted", "TLSv1.3", "h2", 443],
      ["n.example", "accepted", "TLSv1.3", null, 443]]);
    tls.forEach((r) => assert.match(r.ja4, /^t13d/));
    assert.equal(http.length, 3);
    // printf field=value | sha256sum
    const body = "a046bedaa571a3f49a4b24f7be550e21936278c76da670737dc2c9bcaa3be9a0";
    has(http[0], { method: "POST", path: "/up?a=1", host: "h.example", payloadBytes: 11, bodySha256: body,
      inTls: { sni: "h.example", version: "TLSv1.3", alpn: "http/1.1" } });
    has(http[1], { method: "POST", path: "/up?a=1", host: "h.example", payloadBytes: 11, bodySha256: body,
      httpVersion: "2", inTls: { sni: "h.example", version: "TLSv1.3", alpn: "h2" } });
    has(http[2], { method: "PUT", path: "/n", host: "n.example", payloadBytes: 5,
      dstName: "n.example",
      bodySha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" });
    assert.ok(http[2].headers.includes("x-a"));
    has(end, { flushed: true, lost: 0 });
  });

  test("records how clients refuse its certificate", async () => {
    const { records } = await sinkhole(["--tls", "intercept"], async (box) => {
      assert.equal(curl(box).status, 60);
      const code = await box.run(`
        import https from "node:https";
        https.get("https://n.example/secret").on("error", (e) => tell(e.code));`);
      assert.match(code, /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/);
    });
    const tls = records.filter((r) => r.type === "tcp");
    assert.deepEqual(tls.map((r) => [r.protocol, r.sni, r.handshake, r.alert]), [
      ["tls", "h.example", "refused", "unknown_ca"],
      // node sends no alert, it just goes away.
      ["tls", "n.example", "refused", undefined]]);
  });

  test("reads what openssl sends in every version of TLS", async () => {
    const versions = ["-tls1_2", "-tls1_3"];
    const { records } = await sinkhole(["--tls", "intercept"], (box) => {
      for (const version of versions) {
        client(box, "EHLO me.example\r\n", "openssl", "s_client", "-quiet", "-no_ign_eof", "-connect",
          `${address}:465`, version, "-CAfile", trust(box), "-verify_return_error",
          "-verify_ip", address);
      }
    });
    const inside = records.filter((r) => r.inTls);
    assert.deepEqual(inside.map((r) => [r.dstPort, r.bytesReceived, r.inTls]), [
      [465, 17, { version: "TLSv1.2" }], [465, 17, { version: "TLSv1.3" }]]);
  });

  test("takes in every one of 503 handshakes, and holds at most what it may", async () => {
    let peak = 0;
    const { records, end } = await sinkhole(["--tls", "intercept"], async (box) => {
      await box.run(`
        import tls from "node:tls";
        import { readFileSync } from "node:fs";
        const ca = readFileSync(${JSON.stringify(trust(box))});
        let next = 0;
        const worker = async () => {
          while (next < 503) {
            const i = next++;
            const socket = tls.connect({ host: ${JSON.stringify(address)}, port: 443, ca,
              servername: "n" + i + ".example" }, () => socket.end("x".repeat(i + 1)));
            await new Promise((done, failed) => socket.resume().on("close", done)
              .on("error", failed));
          }
        };
        await Promise.all(Array.from({ length: 31 }, worker));`);
      peak = Number(/VmHWM:\s+(\d+)/.exec(
        readFileSync(`/proc/${box.child.pid}/status`))[1]);
    });
    const inside = new Map(records.filter((r) => r.inTls)
      .map((r) => [r.inTls.sni, r.bytesReceived]));
    assert.equal(records.filter((r) => r.handshake === "accepted").length, 503);
    for (let i = 0; i < 503; i++) assert.equal(inside.get(`n${i}.example`), i + 1);
    assert.ok(peak < 160 * 1024, `${peak} KiB`);
    has(end, { flushed: true, lost: 0 });
  });

  test("gives the authority that --ca-fd brought, and refuses what is none", async () => {
    const help = spawnSync(program, ["--netns", "x", "--ca-fd", "0"], { input: "" });
    assert.equal(help.status, 2);
    assert.match(String(help.stderr), /--ca-fd/);
    const none = spawnSync(program, ["--netns", "x", "--tls", "intercept", "--ca-fd", "0"],
      { input: "no PEM", encoding: "utf8" });
    assert.equal(none.status, 3);
    assert.match(none.stderr, /holds no private key/);
  });

  test("refuses TLS unless it is told otherwise", async () => {
    const { records } = await sinkhole([], (box) => {
      assert.equal(box.ready.tls, "refuse");
      assert.equal(box.ready.ca, undefined);
      assert.equal(curl(box, "-k").status, 35);
    });
    assert.equal(records.length, 1);
    has(records[0], { protocol: "tls", sni: "h.example", handshake: undefined });
  });

  test("writes the certificate of a plausible authority, and not its key", async () => {
    await sinkhole(["--tls", "intercept"], (box) => {
      assert.match(box.ready.ca, /^-----BEGIN CERTIFICATE-----\n/);
      assert.doesNotMatch(box.ready.ca, /PRIVATE/);
      const text = execFileSync("openssl", ["x509", "-noout", "-text"],
        { input: box.ready.ca, encoding: "utf8" });
      assert.match(text, /CA:TRUE/);
      assert.match(text, /ASN1 OID: prime256v1/);
      assert.doesNotMatch(text, /qp|quarantine|sandbox|honey|sinkhole/i);
    });
  });
});
