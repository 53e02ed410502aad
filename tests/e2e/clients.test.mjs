// SPDX-License-Identifier: Apache-2.0
// Real clients in the sandbox: the sinkhole records what each was told to do, and no more.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { assertComplete, assertReplays } from './lib/qp.mjs';
import { assertObserved, claim, claimLookups, isThere, runClients } from './lib/clients.mjs';
import { interceptRows, refuseRows } from './lib/client-rows.mjs';

function clients(title, rows, args) {
  const there = rows.filter((row) => isThere(row.program));
  const cleanups = [];
  let run;

  describe(title, () => {
    before(() => { run = runClients({ after: (cleanup) => cleanups.push(cleanup) }, there, args); });
    after(() => cleanups.forEach((cleanup) => cleanup()));
    for (const row of rows) {
      test(row.run.slice(0, 72), { skip: there.includes(row) ? false : `${row.program} is not installed` }, () => {
        assert.match(row.output, row.prints);
        assert.equal(row.got, row.exit, row.output);
        row.hosts.forEach((host) => claimLookups(run, row, host));
        row.records.forEach((wanted) => claim(run, row, wanted));
        row.claimed.forEach((record) => assertObserved(run, row, record));
      });
    }
    test('nothing else is recorded, everything was seen, and it replays', () => {
      assert.deepEqual(run.free, []);
      assertComplete(run.receipt);
      assertReplays(run);
    });
  });
}

clients('--tls refuse', refuseRows, ['--tls', 'refuse']);
clients('--tls intercept', interceptRows, ['--tls', 'intercept']);
