// SPDX-License-Identifier: Apache-2.0
// Attempts at the network that carry nothing: each is an observation with what the kernel answered.
import test from 'node:test';
import assert from 'node:assert/strict';
import os from 'node:os';
import { spawnSync } from 'node:child_process';
import { assertComplete, assertReplays, receiptOf } from './lib/qp.mjs';

const python = spawnSync('python3', ['--version']).status === 0;

// AF_INET is 2, SOCK_STREAM 1, SOCK_RAW 3, IPPROTO_ICMP 1 and IPPROTO_SCTP 132. The connect is
// given up before it can stand.
const program = `
import socket
def attempt(name, *of):
    try:
        socket.socket(*of).close()
        print(name, 0)
    except OSError as error:
        print(name, error.errno)
attempt("sctp", 2, 1, 132)
attempt("raw", 2, 3, 1)
server = socket.socket()
server.bind(("127.0.0.1", 7979))
server.listen()
client = socket.socket()
client.setblocking(False)
print("connect", client.connect_ex(("203.0.113.9", 7801)))
client.close()
`;

test('sockets of SCTP and raw ones, bind, and a connect that was given up are observed',
  { skip: python ? false : 'needs python3' }, (t) => {
    const run = receiptOf(t, ['exec', '--', 'python3', '-c', program]);
    assert.equal(run.code, 20, run.stderr); // a raw socket is rule e
    const answers = new Map([...run.receipt.logs.sandboxOutput.matchAll(/^(sctp|raw|connect) (\d+)$/gm)]
      .map(([, name, number]) => [name, Number(number)]));
    const nameOf = (number) => Object.entries(os.constants.errno).find(([, value]) => value === number)?.[0];
    const of = (kind) => run.receipt.observations.filter((o) => o.kind === kind);

    assert.deepEqual(of('net-other').map((o) => [o.call, o.family]), [['socket', 2]]);
    assert.equal(of('net-other')[0].errno ?? undefined, nameOf(answers.get('sctp')));
    assert.deepEqual(of('tamper').map((o) => [o.call, o.errno, o.outcome]), [['socket', 'EPERM', 'attempted']]);
    assert.equal(answers.get('raw'), os.constants.errno.EPERM);
    assert.deepEqual(of('net-listen').map((o) => [o.orig_dest, o.outcome]), [['127.0.0.1:7979', 'effected']]);
    assert.equal(answers.get('connect'), os.constants.errno.EINPROGRESS);
    assert.deepEqual(of('net-tcp').map((o) => o.orig_dest), ['203.0.113.9:7801']);
    assertComplete(run.receipt);
    assertReplays(run);
  });
