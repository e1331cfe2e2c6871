import type { IncomingMessage } from 'node:http';
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { Principal } from '@glovebox/access';
import {
  bodyTemplate,
  Budget,
  expandStream,
  headerTemplate,
  inSlices,
  pathTemplate,
  queryTemplate,
  refuseUnfilled,
  refuseUnfilledStream,
  Tally,
  type BodyContext,
  type Template,
  type ValueObservers,
} from '@glovebox/expressions';
import { readAtMost } from '@glovebox/wire';
import { OpeningBudget, type Reach, type Use } from '@glovebox/vault';
import type { Room } from '../call/call-shares';
import type { ProxyDecision } from '../call/caller';
import type { CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import { contextOfType, hasBody, mediaType } from '../connection/intake';
import { RequestBody, type OpenedBody, type OutgoingBody } from '../connection/request-body';
import { isSmallBody, joined, readSmallBody } from '../connection/small-body';
import type { GatewayContext } from '../context';
import { noteTokens, type Call } from '../observing/call';
import { tooLarge, transformedBytesMax } from './transforms/content';

/** The caller's part of the head of a request to a destination. */
export interface RequestHead {
  /** The path behind `/proxy`. */
  readonly suffix: string;
  readonly query: string;
  readonly headers: string[];
}

/** The caller's part of a request to a destination. */
export interface ProxiedRequest extends RequestHead {
  readonly body: OutgoingBody;
}

type Values = ReadonlyMap<string, unknown>;

/** The parts of a call that may hold expressions, and the caller that uses them. */
interface Filling {
  readonly req: CallerRequest;
  readonly res: CallerResponse;
  readonly head: RequestHead;
  readonly decision: ProxyDecision;
  readonly caller: Principal;
  readonly use: Use;
  readonly reach: Reach;
  readonly call: Call;
  readonly room: Room;
  /** The body, if a transform has read it whole. */
  readonly whole: Buffer | undefined;
  /** Remembers the data for the length of the call, also where no code runs. */
  readonly keepsOpened?: boolean;
}

type Filled = ProxiedRequest & { readonly opened: Values };

/**
 * Replaces the expressions of one call. All are found and counted, then authorised and resolved by
 * one look-up, before the first byte goes out. Only the rest of a body above PROXY_BUFFER_MAX
 * follows in batches. A body in which nothing is replaced is refused for an expression at its
 * beginning. Hot path: without braces nothing is parsed and no store is asked.
 */
export async function fillIn(ctx: GatewayContext, filling: Filling): Promise<Filled> {
  const { req, head } = filling;
  const kind = kindOf(req);
  const read = kind && (await readScanned(filling, kind, bytesMaxOf(ctx, filling, kind)));
  if (read?.isWhole && isFree(read.parts, kind) && !mayHoldExpression(head)) {
    const { suffix, query, headers } = head;
    const [only, ...others] = read.parts;
    const body = only && others.length === 0 ? only : read.parts;
    return { suffix, query, headers, body, opened: nothing };
  }
  return replaceIn(ctx, filling, read && textOf(req, read, kind));
}

/** What the rest of a body puts in would be known when the answer has begun. */
function bytesMaxOf(ctx: GatewayContext, { call }: Filling, kind: BodyKind): number {
  return call.putIn && kind !== 'other' ? transformedBytesMax : ctx.config.PROXY_BUFFER_MAX;
}

const nothing: Values = new Map();

const noObservers: ValueObservers = {};

/** What is told of the values that a call puts in. A capture knows all that was opened by itself. */
export function valueObserversOf({ capture, putIn }: Call): ValueObservers {
  if (!capture && !putIn) return noObservers;
  return {
    onFilledIn: (source, value) => {
      capture?.filledIn(source, value);
      putIn?.add(source, value);
    },
    onFiltered: putIn && ((source, value) => putIn.add(source, value)),
  };
}

async function replaceIn(
  ctx: GatewayContext,
  { req, head, decision, caller, use, reach, call, room, whole, keepsOpened = false }: Filling,
  text: BodyText | undefined,
): Promise<Filled> {
  const { requestTransform, responseTransform, scrub } = decision.decided.proxy;
  const tally = new Tally({ keepsWhole: scrub === true });
  const { capture } = call;
  const budget = new Budget(room, valueObserversOf(call));
  const opening = new OpeningBudget(room.keep);
  const isKept = keepsOpened || requestTransform !== null || responseTransform !== null;
  const opened = new Map<string, unknown>();
  const headTemplate = mayHoldExpression(head) ? templateOf(head, tally) : undefined;
  const resolve = async (ids: readonly string[]): Promise<Values> => {
    await decision.confirm();
    const values = await ctx.vault.detokenize(caller, use, ids, reach, opening);
    noteTokens(call, ids);
    // The values of a streamed body leave at once.
    await decision.confirm();
    capture?.opened(values);
    // What code writes might show them.
    if (isKept) for (const [id, value] of values) opened.set(id, value);
    return values;
  };
  const looking = { tally, room, bytesMax: ctx.config.PROXY_BUFFER_MAX };
  if (call.putIn && text?.context && !text.isWhole) throw tooLarge();
  const body = text && (await scan(req, text, looking));

  const { tokenIds } = tally;
  const values: Values = tokenIds.length > 0 ? await resolve(tokenIds) : new Map();
  const filled = (await headTemplate?.renderInSlices(values, budget)) ?? head;
  if (!body) {
    if (!whole) room.keepOnly(streamBytes);
    return { ...asSent(req, filled, whole), opened };
  }
  return { ...filled, body: await body.render(values, { tally, budget, resolve }), opened };
}

/**
 * The request with the caller's body as it comes, if there is one, and with its declared length.
 */
export function asSent(req: IncomingMessage, head: RequestHead, whole?: Buffer): ProxiedRequest {
  const { suffix, query, headers } = head;
  if (whole) return { suffix, query, headers, body: whole };
  if (!hasBody(req)) return { suffix, query, headers, body: null };
  return { suffix, query, headers, body: streamed(req, declaredLength(req), (body) => body) };
}

function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Tells whether anything must be read before the call can go out. Hot path. */
export function mustBeScanned(req: IncomingMessage, head: RequestHead): boolean {
  return hasBody(req) || mayHoldExpression(head);
}

function mayHoldExpression({ suffix, query, headers }: RequestHead): boolean {
  return (
    encodedBraces.test(suffix) ||
    encodedBraces.test(query) ||
    headers.some((text) => text.includes('{{'))
  );
}

const encodedBraces = /(?:\{|%7b){2}/i;

function templateOf(
  { suffix, query, headers }: RequestHead,
  tally: Tally,
): Pick<Template<RequestHead>, 'renderInSlices'> {
  const path = pathTemplate(suffix, tally);
  const search = queryTemplate(query, tally);
  const lines = headerTemplate(headers, tally);
  return {
    renderInSlices: async (values, budget) => ({
      suffix: await path.renderInSlices(values, budget),
      query: await search.renderInSlices(values, budget),
      headers: await lines.renderInSlices(values, budget),
    }),
  };
}

interface Scanned {
  render(
    values: Values,
    rest: {
      readonly tally: Tally;
      readonly budget: Budget;
      resolve(ids: readonly string[]): Promise<Values>;
    },
  ): OutgoingBody | Promise<OutgoingBody>;
}

/** A body to look for expressions in. Not whole: the beginning of one that is too large. */
interface ReadBody {
  readonly parts: readonly Buffer[];
  readonly isWhole: boolean;
}

interface BodyText {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  /** Undefined: nothing is replaced in it. */
  readonly context: BodyContext | undefined;
}

/** `other`: the media type is none in which expressions are replaced. */
type BodyKind = BodyContext | 'other';

/** A stream of another kind may be slow, and be answered before its end. */
const heldBackMs = 500;

async function readScanned(
  { req, res, room, whole }: Filling,
  kind: BodyKind,
  bytesMax: number,
): Promise<ReadBody> {
  if (whole) return { parts: [whole], isWhole: true };
  if (isSmallBody(req, bytesMax)) {
    return { parts: await readSmallBody(req, res, room), isWhole: true };
  }
  const declared = declaredLength(req);
  if (kind === 'other' && declared !== undefined && declared > bytesMax) {
    return { parts: [], isWhole: false };
  }
  const isHeldBack = kind === 'other' && declared === undefined;
  const enoughMs = isHeldBack ? heldBackMs : undefined;
  const { idleMs, wholeMs, keep } = room;
  const { bytes, isWhole } = await readAtMost(req, bytesMax, { idleMs, wholeMs, keep, enoughMs });
  return { parts: [bytes], isWhole };
}

/** True when nothing in it can be an expression, wherever its parts begin. */
function isFree(parts: readonly Buffer[], kind: BodyKind | undefined): boolean {
  if (kind === 'form') return false;
  let isAfterBrace = false;
  for (const part of parts) {
    if ((isAfterBrace && part[0] === brace) || part.includes('{{')) return false;
    isAfterBrace = part.at(-1) === brace;
  }
  return true;
}

const brace = 0x7b;

function textOf(
  req: CallerRequest,
  { parts, isWhole }: ReadBody,
  kind: BodyKind | undefined,
): BodyText {
  const bytes = joined(parts);
  const context = kind === 'other' ? undefined : kind;
  return { bytes, isWhole, context: mediaType(req) === '' ? contextIn(bytes) : context };
}

interface Looking {
  readonly tally: Tally;
  readonly room: Room;
  /** Bytes that are looked through where nothing is replaced. */
  readonly bytesMax: number;
}

/** Counts the expressions of the body. */
async function scan(req: CallerRequest, text: BodyText, looking: Looking): Promise<Scanned> {
  const { bytes, isWhole, context } = text;
  const { tally, room, bytesMax } = looking;
  if (!isWhole) return restStreamed(req, text, looking);
  if (!context) await inSlices(refuseUnfilled(bytes, bytesMax), room.takeTurn);
  if (!context || !mayHoldBraces(bytes, context)) return { render: () => bytes };
  room.keep(bytes.length * scanCopies);
  const template = await inSlices(bodyTemplate(bytes, context, tally), room.takeTurn);
  return {
    async render(values, { budget }) {
      const filled = await template.renderInSlices(values, budget);
      room.keepOnly(filled.length);
      return filled;
    },
  };
}

/** The body as text, and in pieces. */
const scanCopies = 2;

/** Bytes in memory of a body that is streamed, on both sides. */
const streamBytes = 256 * 1024;

function restStreamed(
  req: IncomingMessage,
  { bytes: begun, context }: BodyText,
  { room, bytesMax }: Looking,
): Scanned {
  // The list is emptied, so that nothing else holds bytes that have been passed on.
  const first = begun.length > 0 ? [begun] : [];
  const whole = async function* (rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for (const bytes of first.splice(0)) yield bytes;
    for await (const bytes of rest) {
      room.keepOnly(streamBytes);
      yield bytes;
    }
  };
  return {
    render: (_, options) =>
      context
        ? streamed(req, undefined, (rest) => expandStream(whole(rest), { context, ...options }))
        : streamed(req, declaredLength(req), (rest) => refuseUnfilledStream(whole(rest), bytesMax)),
  };
}

function streamed(
  req: IncomingMessage,
  length: number | undefined,
  through: (body: RequestBody) => AsyncIterable<Buffer>,
): OutgoingBody {
  const open = (beforePart: () => void): OpenedBody => {
    const caller = new RequestBody(req, beforePart);
    const stream = through(caller);
    const isReadable = stream instanceof Readable;
    return { caller, stream: isReadable ? stream : Readable.from(stream, { objectMode: false }) };
  };
  return { length, open };
}

/** Undefined: no body, or one that cannot be looked into. */
function kindOf(req: IncomingMessage): BodyKind | undefined {
  if (!hasBody(req)) return undefined;
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') return undefined;
  return contextOfType(mediaType(req)) ?? 'other';
}

/**
 * The context of a body without a content type. A destination may read it as JSON if it begins as
 * JSON; a value filled in as text could then end its string and add members.
 */
function contextIn(bytes: Buffer): BodyContext | undefined {
  if (!isText(bytes)) return undefined;
  const at = bytes.findIndex((byte) => !blankBytes.has(byte));
  // Two braces begin an expression.
  return /^(?:\{(?!\{)|\[|")/.test(bytes.toString('latin1', at, at + 2)) ? 'json' : 'text';
}

/** White space of JSON, and the three bytes of a byte order mark. */
const blankBytes = new Set([...Buffer.from(' \t\r\n\ufeff')]);

/** Bytes that end within a character may be the beginning of a text. */
function isText(bytes: Buffer): boolean {
  return [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, Math.max(bytes.length - cut, 0))));
}

function mayHoldBraces(bytes: Buffer, context: BodyContext): boolean {
  if (bytes.includes('{{')) return true;
  return context === 'form' && encodedBraces.test(bytes.toString('latin1'));
}
