// SPDX-License-Identifier: Apache-2.0
// qp show: a receipt for people, on the terminal and as a page that can do no harm.
import test from 'node:test';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { qp, receiptOf, temporaryFolder } from './lib/qp.mjs';

const seed = (name) => fileURLToPath(new URL(`../cases/receipts/seed-${name}.json`, import.meta.url));

function page(t, receipt) {
  const file = path.join(temporaryFolder(t), 'page.html');
  const run = qp(['show', '--html', file, receipt]);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.stdout, '');
  return fs.readFileSync(file, 'utf8');
}

// Every tag that a page may have, with the attributes that it may have.
const TAG = new RegExp('^<(?:!DOCTYPE html|html lang="en"|/?(?:head|title|style|body|header|section|h[123]|p|ul|li|'
  + 'strong|span|div|details|summary|pre|table|thead|tbody|tr|th|td|dl|dt|dd|a)|/html|'
  + 'meta charset="utf-8"|meta http-equiv="Content-Security-Policy" content="[^"<>]*"|'
  + 'meta name="(?:referrer|viewport|color-scheme)" content="[a-z0-9 ,=-]*"|'
  + '(?:p|div|span|summary) class="[a-z ]+"|td data-label="[a-z]+"(?: class="[a-z]+")?|details open|'
  + 'tr id="o\\d+"|a href="#o\\d+")>$');

function assertInert(html) {
  const [, style] = /<style>([^<]*)<\/style>/.exec(html);
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)[1];
  const digest = crypto.createHash('sha256').update(style).digest('base64');
  assert.equal(policy, `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`);
  assert.doesNotMatch(style, /url\(|@import|</);
  for (const [tag] of html.matchAll(/<[^>]*>?/g)) assert.match(tag, TAG);
  // What is left without the tags has no bracket, and no character that moves or reorders text.
  assert.doesNotMatch(html.replaceAll(/<[^>]*>/g, ''), /[<>]/);
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(html, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/);
  for (const [entity] of html.matchAll(/&[^;]{0,8};?/g)) assert.match(entity, /^&(?:amp|lt|gt|quot|#39|hellip|ndash);$/);
}

test('a page tells the verdict, the rules, the observations, and how whole the evidence is', (t) => {
  const { file, receipt } = receiptOf(t, ['run', 'fixture:thief']);
  const html = page(t, file);
  assertInert(html);
  assert.match(html, /<title>do-not-install: qp-fixture-thief@1\.0\.0<\/title>/);
  assert.match(html, /<p class="verdict bad">do-not-install<\/p>/);
  for (const rule of receipt.rulesFired) assert.ok(html.includes(`<strong>${rule.id}</strong> ${rule.tier}: `), rule.id);
  for (const o of receipt.observations) assert.equal(html.split(`<tr id="${o.id}">`).length, 2, o.id);
  for (const name of Object.keys(receipt.completeness)) assert.ok(html.includes(`<td data-label="marker">${name}</td>`), name);
  assert.ok(html.includes(`<dd>${receipt.evidence.log.sha256}</dd>`));
  assert.match(html, /collect\.qp-fixture\.example/);
  assert.equal(html.split('<li>').length - 1 - receipt.rulesFired.flatMap((rule) => rule.observationIds).length,
    receipt.knownLimitations.length);
  assert.match(html, /&gt; node install\.js\n/);
});

test('pages of the seeds', (t) => {
  for (const [name, verdict] of [['fastify', 'install'], ['netbenign', 'review']]) {
    const html = page(t, seed(name));
    assertInert(html);
    assert.ok(html.includes(`>${verdict}</p>`), name);
  }
});

test('hostile text in every place of a receipt comes out inert', (t) => {
  const hostile = [
    '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", '</style><script>x</script>',
    '</pre></td></table><iframe src="//attacker.example">', '&lt;b&gt;&#60;', 'javascript:alert(1)', '\u0000\u0007\u001b[2J\u009b1m\u007f',
    '\u202egnp.exe\u2066\u200b\ufeff\u2028', '<!--', ']]>', '\\x3cscript\\x3e', '<svg/onload=alert(1)//',
  ].map((text) => text.replaceAll('\u0000', ''));
  let next = 0;
  const poison = (value, key) => {
    if (key === 'schema') return value;
    if (typeof value === 'string') return hostile[next++ % hostile.length];
    if (Array.isArray(value)) return value.map((item) => poison(item));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, poison(item, name)]));
  };
  const folder = temporaryFolder(t);
  for (const [i, shift] of hostile.entries()) {
    const file = path.join(folder, `${i}.json`);
    next = i;
    const receipt = poison(JSON.parse(fs.readFileSync(seed('netbenign'), 'utf8')));
    receipt.completeness[shift] = { ok: false, runs: [] };
    receipt.observations.push({ id: shift, kind: 'spawn', actor: 'package', pid: 1, exe: shift, argv: [shift, 3, null] });
    fs.writeFileSync(file, JSON.stringify(receipt));
    assertInert(page(t, file));
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(qp(['show', '--all', file]).stdout, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/);
  }
});

test('a page of very many observations says how many it leaves out', (t) => {
  const receipt = JSON.parse(fs.readFileSync(seed('fastify'), 'utf8'));
  receipt.observations = Array.from({ length: 6007 }, (_, i) => ({
    id: `o${i + 1}`, kind: 'file-write', actor: 'package', package: `p${i % 3}`, pid: i % 7, path: `/tmp/${i}`,
  }));
  const file = path.join(temporaryFolder(t), 'receipt.json');
  fs.writeFileSync(file, JSON.stringify(receipt));
  const html = page(t, file);
  assert.equal([...html.matchAll(/<tr id="o\d+">/g)].length, 5000);
  assert.match(html, /1007 more are in the receipt and not shown here/);
});

test('a page that cannot be made is an error, and leaves what was there', (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'page.html');
  fs.writeFileSync(file, 'kept');
  assert.equal(qp(['show', '--html', file, 'Makefile']).code, 1);
  assert.equal(fs.readFileSync(file, 'utf8'), 'kept');
  const nowhere = qp(['show', '--html', path.join(folder, 'none', 'page.html'), seed('fastify')]);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /cannot write .*page\.html: No such file or directory/);
  assert.equal(qp(['show', '--html', '/dev/full', seed('fastify')]).code, 1);
  assert.equal(qp(['show', '--html', file]).code, 2);
});
