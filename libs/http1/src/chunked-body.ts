import { chunkExtensionBytesMax, chunkSizeDigitsMax, invalid } from './answer-fault';
import { noTokenChar } from './field-lines';

/**
 * The place of the next byte in `chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF` (RFC 9112
 * §7.1).
 */
type Place =
  | 'size'
  | 'extension-name'
  | 'after-name'
  | 'extension-value'
  | 'token-value'
  | 'quoted-value'
  | 'quoted-pair'
  | 'after-quoted'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'over';

const CR = 0x0d;
const LF = 0x0a;
const HTAB = 0x09;
const SP = 0x20;
const DEL = 0x7f;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The value of each byte as a HEXDIG; 255 for any other. */
const hexValues = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? 255 : value;
});
const isTokenByte = Uint8Array.from({ length: 256 }, (_, byte) =>
  noTokenChar.test(String.fromCharCode(byte)) ? 0 : 1,
);

/** So few bytes are moved faster by hand. */
const movedByHandMost = 32;

/** Decodes the chunks of a body in place: the data of one read becomes one piece. */
export class ChunkedBody {
  /** Start of the data of the last read. */
  dataStart = 0;
  /** End of the data of the last read. */
  dataEnd = 0;
  #place: Place = 'size';
  #size = 0;
  #digits = 0;
  #extensionBytes = 0;

  /** The last chunk was read; trailers follow. */
  get isOver(): boolean {
    return this.#place === 'over';
  }

  begin(): void {
    this.#place = 'size';
    this.#size = 0;
    this.#digits = 0;
    this.#extensionBytes = 0;
  }

  /**
   * Returns the index behind the bytes read: all of them, or the line of the last chunk. Hot path.
   */
  read(bytes: Buffer, from: number): number {
    let at = from;
    this.dataStart = this.dataEnd = from;
    while (at < bytes.length && this.#place !== 'over') {
      if (this.#place === 'data') at = this.#readData(bytes, at);
      else this.#readByte(bytes[at++] ?? 0);
    }
    return at;
  }

  #readData(bytes: Buffer, at: number): number {
    const length = Math.min(this.#size, bytes.length - at);
    if (this.dataEnd === this.dataStart) {
      this.dataStart = at;
      this.dataEnd = at + length;
    } else {
      move(bytes, this.dataEnd, at, length);
      this.dataEnd += length;
    }
    this.#size -= length;
    if (this.#size === 0) this.#place = 'data-cr';
    return at + length;
  }

  #readByte(byte: number): void {
    switch (this.#place) {
      case 'size':
        return this.#readSize(byte);
      case 'size-lf':
        if (byte !== LF) throw invalid('CR without LF behind the size of a chunk');
        this.#place = this.#size === 0 ? 'over' : 'data';
        this.#digits = 0;
        return;
      case 'data-cr':
        if (byte !== CR) throw invalid('a chunk is longer than its size');
        this.#place = 'data-lf';
        return;
      case 'data-lf':
        if (byte !== LF) throw invalid('CR without LF behind a chunk');
        this.#place = 'size';
        return;
      case 'data':
      case 'over':
        return;
      default:
        return this.#readExtension(byte);
    }
  }

  #readSize(byte: number): void {
    const value = hexValues[byte] ?? 255;
    if (value < 16) {
      this.#digits += 1;
      if (this.#digits > chunkSizeDigitsMax) throw invalid('the size of a chunk is too long');
      this.#size = this.#size * 16 + value;
      return;
    }
    if (this.#digits === 0) throw invalid('a chunk without a size');
    this.#endOfPart(byte);
  }

  /** RFC 9112 §7.1.1, without the blanks that it calls bad. Extensions are dropped. */
  #readExtension(byte: number): void {
    this.#extensionBytes += 1;
    if (this.#extensionBytes > chunkExtensionBytesMax) throw invalid('too many chunk extensions');
    const isToken = isTokenByte[byte] === 1;
    switch (this.#place) {
      case 'extension-name':
        if (!isToken) throw invalid('a chunk extension without a name');
        this.#place = 'after-name';
        return;
      case 'after-name':
        if (isToken) return;
        if (byte === EQUALS) this.#place = 'extension-value';
        else this.#endOfPart(byte);
        return;
      case 'extension-value':
        if (byte !== QUOTE && !isToken) throw invalid('a chunk extension without a value');
        this.#place = byte === QUOTE ? 'quoted-value' : 'token-value';
        return;
      case 'token-value':
        if (!isToken) this.#endOfPart(byte);
        return;
      case 'quoted-value':
        if (byte === QUOTE) this.#place = 'after-quoted';
        else if (byte === BACKSLASH) this.#place = 'quoted-pair';
        else checkQuoted(byte);
        return;
      case 'quoted-pair':
        checkQuoted(byte);
        this.#place = 'quoted-value';
        return;
      default:
        return this.#endOfPart(byte);
    }
  }

  #endOfPart(byte: number): void {
    if (byte === CR) this.#place = 'size-lf';
    else if (byte === SEMICOLON) this.#place = 'extension-name';
    else throw invalid('the size of a chunk is followed by something else');
  }
}

/** RFC 9110 §5.6.4: qdtext and quoted-pair */
function checkQuoted(byte: number): void {
  if ((byte < SP && byte !== HTAB) || byte === DEL) throw invalid('a control in a chunk extension');
}

function move(bytes: Buffer, to: number, from: number, length: number): void {
  if (length > movedByHandMost) bytes.copyWithin(to, from, from + length);
  else for (let n = 0; n < length; n += 1) bytes[to + n] = bytes[from + n] ?? 0;
}
