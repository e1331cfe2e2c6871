import { isUtf8 } from 'node:buffer';
import type {
  CapturedAnswer,
  CapturedBody,
  CapturedMessages,
  CapturedRequest,
} from '@glovebox/captures';
import type { Work } from '@glovebox/expressions';
import { mayBeData } from '@glovebox/problems';
import { nameValues, redacted, type NamedPart, type NamedValue } from '@glovebox/reactors';
import type { ServiceHeaders } from '@glovebox/wire';
import { contextOfType, withoutParameters } from '../connection/intake';
import type { Capture, KeptAnswer, KeptRequest } from './capture';
import { keptBytesMax, type KeptBody } from './kept-body';
import {
  formPieces,
  isSecretMember,
  isSecretParameter,
  jsonPieces,
  pathPieces,
  type Leaf,
  type Piece,
} from './pieces';
import { leafShape, leafText, type KnownExpressions } from './shown-leaf';

/** Bytes of one message as it is kept, in JSON. */
export const messageBytesMax = 64 * 1024;
const headBytesMax = 16 * 1024;
const headersMax = 100;
/** The cost of looking for what was put in, for one message: about 150 ms at worst, in slices. */
const stepsMax = 8_000_000;
const piecesAtOnce = 500;

/** What the messages of one call are shown by. */
interface Showing extends KnownExpressions {
  readonly values: readonly NamedValue[] | undefined;
  readonly ours: ServiceHeaders;
}

/** Makes what is kept of a call, when it is over. */
export function* messagesOf(capture: Capture, ours: ServiceHeaders): Work<CapturedMessages> {
  const { head, call, proxy, ids, sources } = capture;
  const { sentRequest, receivedAnswer, madeAnswer, host } = capture;
  const { whole } = capture.definition;
  const secrets = secretsOf(capture);
  const values = capture.values && [...capture.values, ...secrets];
  const showing: Showing = { values, ours, ids, sources };
  // What a caller sent is shown as it is, so that a value in plain is not told from another.
  const sentByCaller: Showing = whole ? showing : { ...showing, values: [] };
  // Code may write data in a form of its own, and with `svc` data that nobody noted. What it sent comes back.
  const hasData = ids.size > 0 || proxy.applicationId !== null;
  const isSentWhole = whole && !(hasData && proxy.requestTransform);
  // An answer holds what steps are to take away.
  const isChanged = proxy.responseTransform !== null || proxy.responseSteps.length > 0;
  const { method } = call;
  const body = capture.requestBody.bytes > 0 ? capture.requestBody : undefined;
  const request = { method, ...(yield* requestOf({ ...head, body }, sentByCaller, whole)) };
  const made: { -readonly [Part in keyof CapturedMessages]: CapturedMessages[Part] } = { request };
  if (sentRequest) {
    const sent = yield* requestOf(sentRequest, showing, isSentWhole);
    made.sent = { method, ...(host === undefined ? {} : { host }), ...sent };
  }
  if (receivedAnswer) {
    made.received = yield* answerOf(receivedAnswer, showing, isSentWhole && !isChanged);
  }
  if (madeAnswer) {
    const isWhole = isSentWhole && !(hasData && proxy.responseTransform);
    made.answer = yield* answerOf(madeAnswer, showing, isWhole);
  }
  return made;
}

/** The configuration, and what steps add: secrets of the destination. */
function secretsOf({ proxy }: Capture): NamedValue[] {
  const added = [...proxy.requestSteps, ...proxy.responseSteps].flatMap(({ type, options }) =>
    type === 'append' ? [options.value] : [],
  );
  return [proxy.configuration, ...added].map((value) => ({ name: redacted, value }));
}

function* requestOf(
  { suffix, query, headers, body }: KeptRequest,
  showing: Showing,
  isWhole: boolean,
): Work<Omit<CapturedRequest, 'method'>> {
  const path = yield* shown(pathPieces(suffix), showing, isWhole, headBytesMax / 4);
  const asked = yield* shown(
    formPieces(query, isSecretParameter),
    showing,
    isWhole,
    headBytesMax / 2,
  );
  return {
    path: endOf(path),
    ...(query === '' ? {} : { query: endOf(asked) }),
    ...(yield* messageOf(headers, body, showing, isWhole)),
  };
}

function* answerOf(
  { status, headers, body }: KeptAnswer,
  showing: Showing,
  isWhole: boolean,
): Work<CapturedAnswer> {
  const kept = body.bytes > 0 ? body : undefined;
  return { status, ...(yield* messageOf(headers, kept, showing, isWhole)) };
}

function* messageOf(
  headers: readonly string[],
  body: KeptBody | undefined,
  showing: Showing,
  isWhole: boolean,
): Work<Pick<CapturedAnswer, 'headers' | 'body'>> {
  const lines = yield* headersOf(headers, showing);
  if (!body) return { headers: lines };
  const type = lines.find(([name, value]) => name === 'content-type' && mediaType.test(value))?.[1];
  return { headers: lines, body: yield* bodyOf(headers, body, type, showing, isWhole) };
}

/** Values of headers are shapes in any case: which of them are keys nobody knows for sure. */
function* headersOf(raw: readonly string[], showing: Showing): Work<[string, string][]> {
  const headers: Leaf[] = [];
  for (let at = 0; at + 1 < raw.length && headers.length <= 2 * headersMax; at += 2) {
    const [name = '', text = ''] = raw.slice(at, at + 2);
    if (showing.ours.isOurs(name.toLowerCase())) continue;
    headers.push({ kind: 'name', text: name }, { kind: 'string', text });
  }
  const named = yield* namedIn(headers, showing);
  const lines: [string, string][] = [];
  let bytes = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = headers.slice(at, at + 2) as [Leaf, Leaf];
    const [nameParts, valueParts] = named?.slice(at, at + 2) ?? [];
    const nameShown = leafShape(name, nameParts, showing);
    const line: [string, string] = [
      nameShown === name.text ? nameShown.toLowerCase() : nameShown,
      headerShape(name.text.toLowerCase(), value, valueParts, showing),
    ];
    bytes += Buffer.byteLength(JSON.stringify(line));
    if (lines.length === headersMax || bytes > headBytesMax) {
      lines.push(['…', 'more headers']);
      break;
    }
    lines.push(line);
  }
  return lines;
}

function headerShape(
  name: string,
  value: Leaf,
  parts: readonly NamedPart[] | undefined,
  showing: Showing,
): string {
  if (isSecretParameter(name)) return '<hidden>';
  const isPlain = parts?.every((part) => 'text' in part);
  const shape = isPlain && plainHeader(name, value.text);
  if (shape) return shape;
  const made = leafShape(value, parts, showing);
  return Buffer.byteLength(made) > headBytesMax / 8 ? '…' : made;
}

/** Of these the value is shown: it says how the body is read. */
function plainHeader(name: string, value: string): string | undefined {
  if (name === 'content-type') {
    const type = withoutParameters(value);
    return mediaType.test(type) && !mayBeData(type) ? type : undefined;
  }
  if (name === 'content-length') return /^\d{1,12}$/.test(value) ? value : undefined;
  if (name !== 'content-encoding' && name !== 'transfer-encoding') return undefined;
  return /^(?:gzip|deflate|br|zstd|identity|chunked)$/.test(value) ? value : undefined;
}

const mediaType = /^[a-z]{1,20}\/[\w.+-]{1,60}$/;

function* bodyOf(
  headers: readonly string[],
  body: KeptBody,
  type: string | undefined,
  showing: Showing,
  isWhole: boolean,
): Work<CapturedBody> {
  const told = { ...(type === undefined ? {} : { type }), bytes: body.bytes };
  const encoding = valueOf(headers, 'content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') return { ...told, format: 'encoded' };
  const text = textOf(body);
  const known = withoutParameters(valueOf(headers, 'content-type') ?? '');
  if (text === undefined) return { ...told, format: 'binary' };
  if (known.startsWith('multipart/') && !isWhole) return { ...told, format: 'multipart' };
  const format = contextOfType(known) === 'form' ? 'form' : looksLikeJson(text) ? 'json' : 'text';
  const made = yield* shown(
    piecesOf(format, text),
    showing,
    isWhole,
    messageBytesMax - 2 * headBytesMax,
  );
  const isCut = made.isCut || body.bytes > keptBytesMax;
  return { ...told, format, text: made.text, ...(isCut ? { cut: true } : {}) };
}

/** A body without a type, or with a wrong one, is read as what it is. */
const looksLikeJson = (text: string): boolean => /^\ufeff?\s*(?:\{(?!\{)|\[|")/.test(text);

function piecesOf(format: CapturedBody['format'], text: string): Iterable<Piece> {
  if (format === 'json') return jsonPieces(text);
  if (format === 'form') return formPieces(text, isSecretMember);
  return [{ kind: 'text', text }];
}

/** Undefined for what is no text. Where the body goes on, its bytes may end within a character. */
function textOf(body: KeptBody): string | undefined {
  const bytes = body.beginning;
  const cuts = body.bytes > bytes.length ? [0, 1, 2, 3] : [0];
  const cut = cuts.find((less) => isUtf8(bytes.subarray(0, bytes.length - less)));
  const text = cut === undefined ? undefined : bytes.toString('utf8', 0, bytes.length - cut);
  return text?.includes('\0') ? undefined : text;
}

function valueOf(headers: readonly string[], wanted: string): string | undefined {
  const at = headers.findIndex((name, nth) => nth % 2 === 0 && name.toLowerCase() === wanted);
  return at < 0 ? undefined : headers[at + 1];
}

interface Shown {
  readonly text: string;
  readonly isCut: boolean;
}

const endOf = ({ text, isCut }: Shown): string => (isCut ? `${text}…` : text);

/** The pieces as text, with expressions in the place of what was put in. */
function* shown(
  pieces: Iterable<Piece>,
  showing: Showing,
  isWhole: boolean,
  bytesMax: number,
): Work<Shown> {
  const all: Piece[] = [];
  for (const piece of pieces) {
    all.push(piece);
    if (all.length % piecesAtOnce === 0) yield;
  }
  const leaves = all.filter((piece): piece is Leaf => typeof piece !== 'string');
  const named = yield* namedIn(leaves, showing);
  // What cannot be searched is not shown.
  const write = isWhole && named ? leafText : leafShape;
  let text = '';
  let bytes = 0;
  let nth = 0;
  let done = 0;
  for (const piece of all) {
    done += 1;
    if (done % piecesAtOnce === 0) yield;
    let part = piece as string;
    if (typeof piece !== 'string') {
      part = write(piece, named?.[nth], showing);
      nth += 1;
    }
    bytes += Buffer.byteLength(JSON.stringify(part)) - 2;
    if (bytes > bytesMax) {
      const rest = bytesMax - (bytes - Buffer.byteLength(JSON.stringify(part)) + 2);
      // A text of one piece is cut within it: characters take up to six bytes.
      const begun = write === leafText ? part.slice(0, Math.max(0, Math.floor(rest / 6))) : '';
      return { text: text + begun, isCut: true };
    }
    text += part;
  }
  return { text, isCut: false };
}

function* namedIn(
  leaves: readonly Leaf[],
  { values }: Showing,
): Work<readonly (readonly NamedPart[])[] | undefined> {
  if (values?.length === 0) return leaves.map(({ text }) => [{ text }]);
  return (
    values &&
    (yield* nameValues(
      leaves.map(({ text }) => text),
      values,
      stepsMax,
    ))
  );
}
