import { Duplex } from 'node:stream';
import {
  connect,
  createSecureContext,
  TLSSocket,
  type ConnectionOptions,
  type SecureContext,
} from 'node:tls';
import { createAuthority, fractionsFrom, testSeed } from '@glovebox/testing';
import { FirstBytes, helloBytesMax, openingOf, type Opening } from './first-bytes';

/** The first bytes of a client of this Node.js. */
function helloOf(options: ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read() {}, write: (chunk: Buffer) => resolve(chunk) });
    connect({ socket, ...options }).on('error', () => undefined);
  });
}

/** The same message in records of so many bytes. */
function inRecordsOf(bytes: number, hello: Buffer): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += bytes) {
    const part = message.subarray(at, at + bytes);
    records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

/** The hello with one more extension. */
function withExtension(hello: Buffer, type: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(value.length, 2);
  const longer = Buffer.concat([hello, head, value]);
  const added = 4 + value.length;
  const sessionAt = 5 + 4 + 2 + 32;
  const suitesAt = sessionAt + 1 + longer.readUInt8(sessionAt);
  const compressionAt = suitesAt + 2 + longer.readUInt16BE(suitesAt);
  const extensionsAt = compressionAt + 1 + longer.readUInt8(compressionAt);
  for (const at of [3, extensionsAt]) longer.writeUInt16BE(longer.readUInt16BE(at) + added, at);
  longer.writeUIntBE(longer.readUIntBE(6, 3) + added, 6, 3);
  return longer;
}

const named = (name: string, type = 0): Buffer =>
  Buffer.concat([
    Buffer.from([0, name.length + 3, type, 0, name.length]),
    Buffer.from(name, 'latin1'),
  ]);

describe('the first bytes of a connection', () => {
  it.each([
    ['TLS 1.3', { minVersion: 'TLSv1.3' }],
    ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
  ] as const)('of %s name the server, or none', async (_, options) => {
    const hello = await helloOf({ servername: 'a.example', ...options });
    expect(openingOf(hello)).toEqual({ serverName: 'a.example' });
    expect(openingOf(await helloOf(options))).toEqual({ serverName: undefined });
  });

  it.each([
    [1, 200],
    [7, 7],
    [200, 300],
  ])('name it in pieces of %i bytes and in records of %i', async (size, recordBytes) => {
    const hello = await helloOf({ servername: 'a.example' });
    for (const bytes of [hello, inRecordsOf(recordBytes, hello)]) {
      const first = new FirstBytes();
      for (let at = 0; at < bytes.length; at += size) {
        expect(first.opening).toBe('unknown');
        first.add(bytes.subarray(at, at + size));
      }
      expect(first.opening).toEqual({ serverName: 'a.example' });
      expect(first.take()).toEqual(bytes);
      first.add(Buffer.from('more'));
      expect(String(first.take())).toBe('more');
    }
  });

  it('that were taken before are not given again', async () => {
    const hello = await helloOf({ servername: 'a.example' });
    const first = new FirstBytes();
    first.add(hello.subarray(0, 10));
    expect(first.take()).toEqual(hello.subarray(0, 10));
    first.add(hello.subarray(10, 20));
    first.add(hello.subarray(20));
    expect(first.take()).toEqual(hello.subarray(10));
  });

  it('are plain where they open no TLS', () => {
    expect(openingOf(Buffer.from('GET / HTTP/1.1'))).toBe('plain');
    expect(openingOf(Buffer.from([0x80, 0x2e, 1]))).toBe('plain');
  });

  it('are unreadable where a name may be hidden, is there twice, or is none', async () => {
    const hello = await helloOf({ servername: 'a.example' });
    const unnamed = await helloOf({});
    const two = Buffer.concat([named('a.example'), named('b.example').subarray(2)]);
    two.writeUInt16BE(two.length - 2, 0);
    expect(openingOf(withExtension(unnamed, 0, named('b.example')))).toEqual({
      serverName: 'b.example',
    });
    for (const bytes of [
      withExtension(hello, 0, named('b.example')),
      withExtension(hello, 0xfe0d, Buffer.from([0])),
      withExtension(hello, 0xffce, Buffer.from([0])),
      withExtension(unnamed, 0, two),
      withExtension(unnamed, 0, named('b.example', 1)),
      withExtension(unnamed, 0, named('')),
      withExtension(unnamed, 0, named('b.example\0')),
      withExtension(unnamed, 0, named('b\u{e9}.example')),
      withExtension(unnamed, 0, Buffer.alloc(0)),
    ]) {
      expect(openingOf(bytes)).toBe('unreadable');
    }
  });

  it('are unreadable where they promise more than is read', () => {
    const first = new FirstBytes();
    first.add(Buffer.from([0x16, 3, 1, 0xff, 0xff]));
    expect(first.opening).toBe('unreadable');
    for (const length of [1, 5, 1_000]) {
      const record = Buffer.concat([
        Buffer.from([0x16, 3, 1, length >> 8, length & 255]),
        Buffer.alloc(length, 1),
      ]);
      const endless = new FirstBytes();
      for (let bytes = 0; endless.opening === 'unknown'; bytes += record.length) {
        expect(bytes).toBeLessThanOrEqual(helloBytesMax);
        endless.add(record);
      }
      expect(endless.opening).toBe('unreadable');
    }
  });
});

/** The name that a server of this Node.js takes from the bytes. Undefined: it takes none. */
function takenName(bytes: Buffer, secureContext: SecureContext): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read() {}, write: (_, _encoding, done) => done() });
    const server = new TLSSocket(socket, {
      isServer: true,
      secureContext,
      SNICallback: (name, done) => {
        resolve(name);
        done(null);
      },
    });
    server.on('error', () => resolve(undefined)).on('close', () => resolve(undefined));
    socket.push(bytes);
    socket.push(null);
    setImmediate(() => setImmediate(() => server.destroy()));
  });
}

it('a server takes no other name from damaged bytes than the one that is read in them', async () => {
  const seed = testSeed();
  const random = fractionsFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const context = createSecureContext(createAuthority().issue('DNS:a.example'));
  const hello = await helloOf({ servername: 'a.example' });
  const both = withExtension(await helloOf({}), 0, named('c.example'));
  const taken = new Set<string | undefined>();
  for (let round = 0; round < 500; round += 1) {
    const bytes = Buffer.from(round % 2 === 0 ? hello : both);
    for (let times = below(3); times >= 0; times -= 1) bytes[below(bytes.length)] = below(256);
    const end = random() < 0.1 ? below(bytes.length) : bytes.length;
    const sent = random() < 0.5 ? bytes : inRecordsOf(8 + below(300), bytes.subarray(0, end));
    const opening: Opening | number = openingOf(sent);
    const name = await takenName(sent, context);
    taken.add(name);
    if (name === undefined || opening === 'unreadable') continue;
    expect({ seed, round, opening }).toEqual({ seed, round, opening: { serverName: name } });
  }
  expect(taken.size).toBeGreaterThan(2);
});
