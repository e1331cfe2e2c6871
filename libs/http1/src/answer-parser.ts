import { AnswerFault, invalid } from './answer-fault';
import type { AnswerReceiver } from './answer-receiver';
import { ChunkedBody } from './chunked-body';
import { headLines, trailerLines, trimmed } from './field-lines';
import { LineBlock } from './line-block';

/**
 * more: the answer goes on. paused: the receiver takes no more for now. stopped: it ended the call.
 * complete, switched (101): the bytes `behind` are not part of the answer.
 */
export type Read = 'more' | 'paused' | 'stopped' | 'complete' | 'switched';

type Stage = 'idle' | 'head' | 'counted' | 'until-close' | 'chunked' | 'trailers';

/** RFC 9110 §8.6: 1*DIGIT. OWS around it, but no HTAB behind it: llhttp reads that otherwise. */
const oneNumber = /^[\t ]*\d+ *$/;
/** RFC 9112 §6.1, §7: the one coding that needs no offer by TE; the same of OWS. */
const chunkedAlone = /^[\t ]*chunked *$/i;
/** RFC 9110 §7.6.1: a list of tokens in any case */
const listsClose = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const listsUpgrade = /(?:^|,)[\t ]*upgrade[\t ]*(?:,|$)/i;
/** RFC 9112 §9.3 leaves it to others; the parameter that servers send (RFC 2068 §19.7.1.1) */
const keepAliveTimeout = /(?:^|[,;])[\t ]*timeout[\t ]*=[\t ]*"?(\d{1,9})/i;

/** Many servers hang up after 5 s. The client should be the first to end the connection. */
const keepUnsaidMs = 4_000;
/** No connection waits longer, whatever the server says. */
const keepMostMs = 60_000;
/** Ends the wait earlier than the server says, because requests need time to reach it. */
const keepMarginMs = 1_000;

/**
 * Reads answers by RFC 9112, in parts of any size, and refuses everything else. Throws AnswerFault
 * and errors of the receiver. It cannot be used after a throw. Hot path.
 */
export class AnswerParser {
  status = 0;
  headers: string[] = [];
  trailers: string[] = [];
  behind = 0;
  /** RFC 9112 §9.3: the connection persists behind this answer. */
  keeps = false;
  keepMs = keepUnsaidMs;

  #stage: Stage = 'idle';
  #receiver: AnswerReceiver | undefined;
  #isHead = false;
  #isUpgrade = false;
  #hasBegun = false;
  /** -1: none */
  #length = -1;
  #isChunked = false;
  #upgradeSaid = false;
  #upgradeListed = false;
  #left = 0;
  readonly #block = new LineBlock();
  #chunks: ChunkedBody | undefined;

  /** Call it before the answer to a request comes. */
  expect(receiver: AnswerReceiver, isHead: boolean, isUpgrade: boolean): void {
    this.#receiver = receiver;
    this.#isHead = isHead;
    this.#isUpgrade = isUpgrade;
    this.#hasBegun = false;
    this.#stage = 'head';
  }

  stop(): void {
    this.#stage = 'idle';
    this.#receiver = undefined;
    this.#block.clear();
  }

  /** RFC 9112 §6.3 rule 8, §8: a close ends an answer only there. */
  get endsByClose(): boolean {
    return this.#stage === 'until-close';
  }

  read(bytes: Buffer): Read {
    const receiver = this.#receiver;
    if (receiver === undefined) return 'stopped';
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      receiver.begun();
      if (isTlsRecord(bytes)) throw new AnswerFault('tls', 'a record of TLS');
      if (this.#receiver !== receiver) return 'stopped';
    }
    if (this.#stage !== 'head') return this.#readBody(receiver, bytes, 0, false);
    let at = 0;
    while (at < bytes.length) {
      at = this.#block.takeHead(bytes, at);
      if (at < 0) return 'more';
      this.#readHead(this.#block.lines);
      this.#block.clear();
      if (this.status === 101) return this.#endsAt(at, 'switched');
      if (this.status >= 200) {
        receiver.head(this.status, this.headers);
        if (this.#receiver !== receiver) return 'stopped';
        return this.#readBody(receiver, bytes, at, true);
      }
      receiver.informational(this.status);
      if (this.#receiver !== receiver) return 'stopped';
    }
    return 'more';
  }

  #readHead(lines: string): void {
    if (!headLines.test(lines)) throw invalid('not the head of an answer of HTTP/1.1');
    const isHttp10 = lines.charAt('HTTP/1.'.length) === '0';
    this.status = Number(lines.slice(9, 12));
    this.#length = -1;
    this.#isChunked = false;
    this.#upgradeSaid = false;
    this.#upgradeListed = false;
    this.keepMs = keepUnsaidMs;
    // RFC 9112 §9.3: HTTP/1.0 keeps connections by a private understanding only.
    this.keeps = !isHttp10;
    this.headers = this.#fieldsOf(lines, lines.indexOf('\n') + 1, false);
    if (this.#isChunked) {
      // RFC 9112 §6.1: HTTP/1.0 has no chunks.
      if (isHttp10) throw invalid('Transfer-Encoding in an answer of HTTP/1.0');
      // RFC 9112 §6.3 rule 3: one of the two would be an attempt to smuggle.
      if (this.#length >= 0) throw invalid('Transfer-Encoding and Content-Length');
    }
    this.#stage = this.#stageOfBody();
  }

  /** RFC 9112 §6.3, in its order. */
  #stageOfBody(): Stage {
    const { status } = this;
    if (status === 101) {
      // RFC 9110 §15.2.2: a 101 answers an Upgrade.
      if (!this.#isUpgrade) throw invalid('101 that nobody asked for');
      // RFC 9110 §7.8, §15.2.2: a 101 names the protocol, and lists Upgrade for this connection.
      if (!this.#upgradeSaid || !this.#upgradeListed) throw invalid('101 without Upgrade');
      return 'idle';
    }
    if (status < 200) {
      // RFC 9112 §6.1, RFC 9110 §8.6: an interim answer must not announce a body that others would
      // read.
      if (this.#isChunked || this.#length > 0) throw invalid('an interim answer with a body');
      // RFC 9112 §9.6, RFC 9110 §15.2: a close follows a final answer, and HTTP/1.0 has no 1xx.
      if (!this.keeps) throw invalid('an interim answer that ends the connection');
      return 'head';
    }
    if (this.#isHead || status === 204 || status === 304) return this.#counted(0);
    if (this.#isChunked) {
      this.#chunks ??= new ChunkedBody();
      this.#chunks.begin();
      return 'chunked';
    }
    if (this.#length >= 0) return this.#counted(this.#length);
    this.keeps = false;
    this.#left = Infinity;
    return 'until-close';
  }

  #counted(length: number): Stage {
    this.#left = length;
    return 'counted';
  }

  /** Returns checked lines as name, value, name, value… `from` is the beginning of a line. */
  #fieldsOf(lines: string, from: number, isTrailers: boolean): string[] {
    const fields: string[] = [];
    let at = from;
    while (at < lines.length) {
      const colon = lines.indexOf(':', at);
      const end = lines.indexOf('\r', colon);
      const name = lines.slice(at, colon);
      const value = trimmed(lines, colon + 1, end);
      fields.push(name, value);
      if (isNotable(name)) this.#note(name, value, lines.slice(colon + 1, end), isTrailers);
      at = end + 2;
    }
    return fields;
  }

  #note(name: string, value: string, untrimmed: string, isTrailers: boolean): void {
    switch (name.toLowerCase()) {
      case 'content-length':
        if (isTrailers) throw framingInTrailers();
        return this.#noteLength(untrimmed);
      case 'transfer-encoding':
        if (isTrailers) throw framingInTrailers();
        if (this.#isChunked || !chunkedAlone.test(untrimmed)) {
          throw invalid('Transfer-Encoding that is not chunked');
        }
        this.#isChunked = true;
        return;
      case 'connection':
      case 'proxy-connection':
        if (value === 'keep-alive') return;
        if (listsClose.test(value)) this.keeps = false;
        if (listsUpgrade.test(value)) this.#upgradeListed = true;
        return;
      case 'upgrade':
        this.#upgradeSaid = true;
        return;
      case 'keep-alive':
        return this.#noteKeepAlive(value);
    }
  }

  /** RFC 9112 §6.3 rule 5 allows a list of the same number. No server needs to send one. */
  #noteLength(value: string): void {
    const length = Number(value);
    if (this.#length >= 0 || !oneNumber.test(value) || !Number.isSafeInteger(length)) {
      throw invalid('Content-Length that is not one number');
    }
    this.#length = length;
  }

  #noteKeepAlive(value: string): void {
    const seconds = keepAliveTimeout.exec(value)?.[1];
    if (seconds === undefined) return;
    this.keepMs = Math.min(Math.max(Number(seconds) * 1_000 - keepMarginMs, 0), keepMostMs);
  }

  #readBody(receiver: AnswerReceiver, bytes: Buffer, at: number, isWithHead: boolean): Read {
    if (this.#stage === 'chunked') return this.#readChunks(receiver, bytes, at, isWithHead);
    if (this.#stage === 'trailers') return this.#readTrailers(bytes, at);
    const length = Math.min(this.#left, bytes.length - at);
    const end = at + length;
    this.#left -= length;
    const isLast = this.#left === 0;
    if (length === 0) {
      if (isLast) return this.#endsAt(end, 'complete');
      if (isWithHead) receiver.headAlone();
      return this.#receiver === receiver ? 'more' : 'stopped';
    }
    const data = length === bytes.length ? bytes : bytes.subarray(at, end);
    const isMoreWanted = receiver.data(data, isLast);
    if (this.#receiver !== receiver) return 'stopped';
    if (isLast) return this.#endsAt(end, 'complete');
    return isMoreWanted ? 'more' : 'paused';
  }

  #readChunks(receiver: AnswerReceiver, bytes: Buffer, from: number, isWithHead: boolean): Read {
    const chunks = (this.#chunks ??= new ChunkedBody());
    const at = chunks.read(bytes, from);
    const { dataStart, dataEnd } = chunks;
    let read: Read = 'more';
    if (chunks.isOver) {
      this.#stage = 'trailers';
      read = this.#readTrailers(bytes, at);
    }
    if (dataStart === dataEnd) {
      if (isWithHead && read === 'more') receiver.headAlone();
      return this.#receiver === receiver ? read : 'stopped';
    }
    const isLast = read === 'complete';
    const isMoreWanted = receiver.data(bytes.subarray(dataStart, dataEnd), isLast);
    if (this.#receiver !== receiver) return 'stopped';
    return isLast || isMoreWanted ? read : 'paused';
  }

  /** RFC 9112 §7.1.2: trailer-section, then an empty line */
  #readTrailers(bytes: Buffer, at: number): Read {
    const end = this.#block.takeTrailers(bytes, at);
    if (end < 0) return 'more';
    const { lines } = this.#block;
    this.#block.clear();
    if (!trailerLines.test(lines)) throw invalid('trailers that are no field lines');
    this.trailers = this.#fieldsOf(lines, 0, true);
    return this.#endsAt(end, 'complete');
  }

  #endsAt(behind: number, read: 'complete' | 'switched'): Read {
    this.behind = behind;
    if (this.#stage !== 'trailers') this.trailers = [];
    return read;
  }
}

/** Bit by bit: the lengths of names that matter to the client itself. */
const notableLengths = [
  'upgrade',
  'connection',
  'keep-alive',
  'content-length',
  'proxy-connection',
  'transfer-encoding',
].reduce((bits, { length }) => bits | (1 << length), 0);

/** Most names are not notable and need not be compared. */
function isNotable(name: string): boolean {
  return name.length < 32 && ((notableLengths >> name.length) & 1) === 1;
}

/** RFC 8446 §5.1: an alert or a handshake, and the version. A head begins with a letter. */
function isTlsRecord(bytes: Buffer): boolean {
  const [type] = bytes;
  return (type === 0x15 || type === 0x16) && (bytes.length === 1 || bytes[1] === 3);
}

/** RFC 9110 §6.5.1 */
function framingInTrailers(): Error {
  return invalid('framing in the trailers');
}
