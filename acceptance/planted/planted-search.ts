import { constants, inflateRawSync, inflateSync } from 'node:zlib';

export interface Secret {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Find {
  readonly place: string;
  readonly secret: string;
  readonly form: string;
}

interface Needle {
  readonly secret: string;
  readonly form: string;
  readonly bytes: Buffer;
}

/** Searches for all secrets in all forms in one pass, also in compressed parts. */
export class PlantedSearch {
  /** The needles by their first three bytes. */
  readonly #needles = new Map<number, Needle[]>();
  /**
   * The last two of these bytes, for one quick look at each byte of a place: this table fits a
   * cache.
   */
  readonly #pairs = new Uint8Array(1 << 16);

  constructor(secrets: readonly Secret[]) {
    for (const { name, bytes } of secrets) {
      if (bytes.length < 8) throw new Error(`${name} is too short not to be found by chance`);
      for (const [form, encoded] of formsOf(bytes)) {
        const begin = encoded.readUIntBE(0, 3);
        this.#pairs[begin & 0xffff] = 1;
        const needle = { secret: name, form, bytes: encoded };
        this.#needles.set(begin, [...(this.#needles.get(begin) ?? []), needle]);
      }
    }
  }

  in(place: string, bytes: Buffer): Find[] {
    const finds = [...this.#scan(place, bytes)];
    for (const [how, unpacked] of unpackedIn(bytes)) {
      for (const find of this.#scan(place, unpacked)) {
        finds.push({ ...find, form: `${find.form}, ${how}` });
      }
    }
    return [...new Map(finds.map((find) => [JSON.stringify(find), find])).values()];
  }

  *#scan(place: string, bytes: Buffer): Generator<Find> {
    let begin = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      begin = ((begin << 8) & 0xffffff) | (bytes[at] ?? 0);
      if (this.#pairs[begin & 0xffff] !== 1) continue;
      for (const needle of this.#needles.get(begin) ?? []) {
        const end = at - 2 + needle.bytes.length;
        if (end <= bytes.length && needle.bytes.compare(bytes, at - 2, end) === 0) {
          yield { place, secret: needle.secret, form: needle.form };
        }
      }
    }
  }
}

/** The forms in which something may write bytes down. */
export function formsOf(secret: Buffer): [form: string, encoded: Buffer][] {
  const hex = secret.toString('hex');
  const percent = hex.replace(/../g, '%$&');
  const texts: [string, string][] = [
    ['hex', hex],
    ['HEX', hex.toUpperCase()],
    ['percent-encoded', percent],
    ['PERCENT-ENCODED', percent.toUpperCase()],
    ...[0, 1, 2].flatMap((before): [string, string][] => {
      const base64 = base64Within(secret, before);
      const base64url = base64.replaceAll('+', '-').replaceAll('/', '_');
      const plain: [string, string] = [`base64 after ${before}`, base64];
      return base64 === base64url ? [plain] : [plain, [`base64url after ${before}`, base64url]];
    }),
  ];
  return [
    ['raw', secret],
    ['UTF-16', Buffer.from(secret.toString('latin1'), 'utf16le')],
    ...texts.map(([form, text]): [string, Buffer] => [form, Buffer.from(text)]),
  ];
}

/** The base64 characters that depend on the secret alone, at this offset in the encoded text. */
function base64Within(secret: Buffer, bytesBefore: number): string {
  const text = Buffer.concat([Buffer.alloc(bytesBefore), secret]).toString('base64');
  const whole = Math.floor(((bytesBefore + secret.length) * 8) / 6);
  return text.slice(Math.ceil((bytesBefore * 8) / 6), whole);
}

/** Works as gunzip, but accepts bytes after the end. */
function gunzip(bytes: Buffer): Buffer {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (flags & 4) at += 2 + bytes.readUInt16LE(at);
  for (const text of [8, 16]) if (flags & text) at = bytes.indexOf(0, at) + 1;
  if (flags & 2) at += 2;
  return inflateRawSync(bytes.subarray(at), options);
}

const gzipHead = Buffer.of(0x1f, 0x8b, 0x08);
const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 };

/** Unpacks compressed parts, also those that were written down as text. */
function* unpackedIn(bytes: Buffer): Generator<[how: string, unpacked: Buffer]> {
  for (const at of placesOf(bytes, gzipHead)) {
    yield* attempt('gzip', () => gunzip(bytes.subarray(at)));
  }
  for (const at of placesOf(bytes, Buffer.from('H4sI'))) {
    const [text = ''] = /^[\w+/-]+/.exec(bytes.toString('latin1', at)) ?? [];
    yield* attempt('gzip in base64', () => gunzip(Buffer.from(text, 'base64')));
  }
  for (const at of placesOf(bytes, Buffer.from('1f8b08'))) {
    const [text = ''] = /^[\da-f]+/i.exec(bytes.toString('latin1', at)) ?? [];
    yield* attempt('gzip in hex', () => gunzip(Buffer.from(text, 'hex')));
  }
  for (const second of [0x01, 0x5e, 0x9c, 0xda]) {
    for (const at of placesOf(bytes, Buffer.of(0x78, second))) {
      yield* attempt('deflate', () => inflateSync(bytes.subarray(at), options));
    }
  }
}

function* placesOf(bytes: Buffer, begin: Buffer): Generator<number> {
  for (let at = bytes.indexOf(begin); at >= 0; at = bytes.indexOf(begin, at + 1)) yield at;
}

/** Yields nothing for bytes that only look compressed. */
function* attempt(how: string, unpack: () => Buffer): Generator<[string, Buffer]> {
  try {
    yield [how, unpack()];
  } catch {
    return;
  }
}
