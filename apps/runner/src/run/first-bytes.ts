/** Where a connection leads, as far as its first bytes say so. */
export type Opening =
  /** Too few bytes so far. */
  | 'unknown'
  /** They open no TLS. */
  | 'plain'
  /** They open TLS, and nobody can tell to whom. */
  | 'unreadable'
  | { readonly serverName: string | undefined };

/** Bytes of a connection that may come before its ClientHello is whole. */
export const helloBytesMax = 16 * 1024;
/** Each is read anew as long as there are too few. Clients send one or a few. */
const helloRecordsMax = 64;

const recordHeadBytes = 5;
const messageHeadBytes = 4;
const handshake = 0x16;
const clientHello = 1;
const serverNames = 0;
const hostName = 0;
/** They hide the name that the server goes by: encrypted_client_hello, and its draft ESNI. */
const hidingExtensions = new Set([0xfe0d, 0xffce]);

/** Reads where a connection leads, in whatever pieces its bytes come, and holds what must wait. */
export class FirstBytes {
  #opening: Opening = 'unknown';
  #bytes: Buffer = Buffer.alloc(0);
  #taken = 0;
  /** With fewer bytes there is nothing new to read. */
  #needed = 1;

  get opening(): Opening {
    return this.#opening;
  }

  add(data: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? data : Buffer.concat([this.#bytes, data]);
    if (this.#opening !== 'unknown' || this.#bytes.length < this.#needed) return;
    const read = openingOf(this.#bytes);
    if (typeof read !== 'number') this.#opening = read;
    else if (read > helloBytesMax) this.#opening = 'unreadable';
    else this.#needed = read;
  }

  /** Returns the bytes that were not taken yet, and keeps them only as long as they say too little. */
  take(): Buffer {
    const left = this.#bytes.subarray(this.#taken);
    const isKept = this.#opening === 'unknown';
    if (!isKept) this.#bytes = Buffer.alloc(0);
    this.#taken = this.#bytes.length;
    return left;
  }
}

/** Returns how many bytes it takes to know more, where these are too few. */
export function openingOf(bytes: Buffer): Opening | number {
  if (bytes[0] !== handshake) return 'plain';
  const fragments: Buffer[] = [];
  let at = 0;
  while (fragments.length < helloRecordsMax) {
    const start = at + recordHeadBytes;
    if (bytes.length < start) return start;
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== handshake || bytes[at + 1] !== 3 || length === 0) return 'unreadable';
    at = start + length;
    if (bytes.length < at) return at;
    fragments.push(bytes.subarray(start, at));
    const message = Buffer.concat(fragments);
    if (isWhole(message)) return helloIn(message);
  }
  return 'unreadable';
}

const isWhole = (message: Buffer): boolean =>
  message.length >= messageHeadBytes &&
  message.length >= messageHeadBytes + message.readUIntBE(1, 3);

/** RFC 8446, 4.1.2. The same in TLS 1.2. */
function helloIn(message: Buffer): Opening {
  try {
    const whole = new Reader(message);
    if (whole.number(1) !== clientHello) return 'unreadable';
    const hello = new Reader(whole.vector(3));
    whole.requireEnd();
    hello.bytes(2 + 32);
    for (const lengthBytes of [1, 2, 1]) hello.vector(lengthBytes);
    if (hello.isAtEnd) return { serverName: undefined };
    const extensions = new Reader(hello.vector(2));
    hello.requireEnd();
    return { serverName: nameAmong(extensions) };
  } catch (error) {
    if (error instanceof RangeError) return 'unreadable';
    throw error;
  }
}

function nameAmong(extensions: Reader): string | undefined {
  const seen = new Set<number>();
  let name: string | undefined;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const value = extensions.vector(2);
    if (seen.has(type) || hidingExtensions.has(type)) throw new RangeError('more than one name');
    seen.add(type);
    if (type === serverNames) name = nameIn(value);
  }
  return name;
}

/** RFC 6066, 3. Servers differ in which of several names they take. */
function nameIn(extension: Buffer): string {
  const all = new Reader(extension);
  const entry = new Reader(all.vector(2));
  all.requireEnd();
  if (entry.number(1) !== hostName) throw new RangeError('no host name');
  const name = entry.vector(2).toString('latin1');
  entry.requireEnd();
  if (!/^[\x21-\x7e]+$/.test(name)) throw new RangeError('no name of a host');
  return name;
}

/** Reads bytes from the beginning to the end, and throws a RangeError where there are too few. */
class Reader {
  #at = 0;

  constructor(private readonly all: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at === this.all.length;
  }

  requireEnd(): void {
    if (!this.isAtEnd) throw new RangeError('bytes behind the end');
  }

  bytes(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.all.length) throw new RangeError('too few bytes');
    const read = this.all.subarray(this.#at, end);
    this.#at = end;
    return read;
  }

  number(byteCount: number): number {
    return this.bytes(byteCount).readUIntBE(0, byteCount);
  }

  /** Bytes behind their own length. */
  vector(lengthBytes: number): Buffer {
    return this.bytes(this.number(lengthBytes));
  }
}
