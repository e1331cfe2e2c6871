/**
 * Known reasons for missed goals, shown only in rows that miss them.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const heldBack = {
  P1: 'two writes to sockets are 45 % of a call here, node:http on the side of the caller 30 %',
  P2: 'as P1; undici has no key, no headers to choose, no scan, no record of the call',
  P3: 'what a write of Node costs above one of nginx; a reader of our own in place of node:http would save 7 % (ADR 0079)',
  P4: 'more than half are reads and writes of sockets, which both have; the look for braces takes 13 µs of about 90 (ADR 0081)',
  P7: 'of 100 tokens: a third is the collection of garbage, a fifth AES-GCM, 5 µs for each value; the statement for all calls of a moment comes next',
  P8: 'a body that is not scanned is passed on while it comes',
  P9: 'likely the machine: the rounds of one row differ more than the bound',
  P11: 'buffers of Node and of the kernel: what lives in V8 is 6 KiB',
  P12: 'scavenges: all of a young generation of 16 MiB survives while definitions are loaded',
  P13: 'Postgres takes 1.3 ms of processor time for a run and 0.4 for its webhook, the worker 1.1 and 0.3; a job of pg-boss is a fiftieth of two statements',
  P15: 'three processes take 0.17, 0.07 and 0.1 ms of processor time for a call, and the profile of each is flat; the peer takes 0.07 in all',
  P16: 'likely the statement that reads the tokens and records their use, for each call',
  P17: 'likely that one tenant has two statements under way, the peer sixteen; of 100 tokens AES-GCM and JSON are most',
  P18: 'parsing and writing JSON; with code also objects that outlive the next collection, 2 MB of each 12, two writes that wake the runner, a tenth, and the records of two runs, a tenth (ADR 0077)',
  P20: 'to make the search takes 30 µs and more for a long value, to look through 100 KB 25, and the answer is not passed on while it comes',
  layers:
    'of the bytes, about half are objects of node:http: request, response and their streams (ADR 0076); of the time as P15',
  S1: 'each way is a write that wakes another process: half of the processor time of runner and sandbox',
  S2: 'as S1',
  S3: 'as S1; a sandbox serves one run at a time, and the peer takes sixteen messages in one read',
  S9: 'each piece of an exchange passes two more processes, as a frame, and wakes both',
  F1: 'a write through TLS of Node.js takes 33 µs against 13; the rest has not been looked into',
  F2: 'a quarter is the handshake in OpenSSL, two fifths are sockets, TLS and two messages of HTTP in Node.js, which the peers pay as well; the rest is flat',
};
