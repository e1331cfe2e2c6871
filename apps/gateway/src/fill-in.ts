import type { IncomingMessage } from 'node:http';
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { Use } from '@glovebox/database';
import {
  bodyTemplate,
  Budget,
  expandStream,
  headerTemplate,
  pathTemplate,
  queryTemplate,
  Tally,
  type BodyContext,
  type Template,
} from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { Opening } from '@glovebox/vault';
import type { ProxyCall } from './caller';
import type { GatewayContext } from './context';
import { hasBody, isJson, mediaType, readAtMost } from './intake';
import { RequestBody, type OutgoingBody } from './request-body';

/** What goes to the destination, as far as the caller says it. */
export interface Outgoing {
  readonly suffix: string;
  readonly query: string;
  readonly headers: string[];
  readonly body: OutgoingBody;
}

type Head = Omit<Outgoing, 'body'>;
type Values = ReadonlyMap<string, unknown>;

/**
 * Replaces the expressions of one call, wherever they stand: all are found and counted, then
 * authorised and resolved by one look-up, before the first byte goes out. Only of a body above
 * PROXY_BUFFER_MAX the rest follows in batches.
 * Hot path: where no braces stand, nothing is parsed and no store is asked.
 */
export async function fillIn(
  ctx: GatewayContext,
  req: IncomingMessage,
  head: Head,
  identify: () => Promise<ProxyCall>,
  use: Use,
): Promise<Outgoing> {
  const tally = new Tally();
  const budget = new Budget();
  const opening = new Opening();
  const headTemplate = mayHoldExpression(head) ? templateOf(head, tally) : undefined;
  const resolve = async (ids: readonly string[]): Promise<Values> => {
    // Asked anew: a body may take minutes to come, and a key be revoked meanwhile.
    const { caller } = await identify();
    if (!caller) throw new Problem('invalid_api_key');
    const database = ctx.database.of(caller.tenantId);
    return ctx.vault.detokenize(database, caller, use, ids, opening);
  };
  const body = await readScanned(req, ctx.config.PROXY_BUFFER_MAX, tally);

  const { tokenIds } = tally;
  const values: Values = tokenIds.length > 0 ? await resolve(tokenIds) : new Map();
  const filled = headTemplate?.render(values, budget) ?? head;
  if (!body) return asSent(req, filled);
  return { ...filled, body: body.render(values, { tally, budget, resolve }) };
}

/** With the body as it comes, if there is one, and as long as the caller says. */
export function asSent(req: IncomingMessage, head: Head): Outgoing {
  if (!hasBody(req)) return { ...head, body: null };
  const length = req.headers['content-length'];
  if (length !== undefined) head.headers.push('content-length', length);
  return { ...head, body: streamed(req, (body) => body) };
}

function mayHoldExpression({ suffix, query, headers }: Head): boolean {
  return (
    encodedBraces.test(suffix) ||
    encodedBraces.test(query) ||
    headers.some((text) => text.includes('{{'))
  );
}

const encodedBraces = /(?:\{|%7b){2}/i;

function templateOf(
  { suffix, query, headers }: Head,
  tally: Tally,
): Pick<Template<Head>, 'render'> {
  const path = pathTemplate(suffix, tally);
  const search = queryTemplate(query, tally);
  const lines = headerTemplate(headers, tally);
  return {
    render: (values, budget) => ({
      suffix: path.render(values, budget),
      query: search.render(values, budget),
      headers: lines.render(values, budget),
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
  ): OutgoingBody;
}

/** The body with its expressions counted, or what has come of it when it is too large to wait for. */
async function readScanned(
  req: IncomingMessage,
  bufferBytesMax: number,
  tally: Tally,
): Promise<Scanned | undefined> {
  const context = hasBody(req) ? contextOf(req) : undefined;
  if (!context) return undefined;
  const { bytes, isWhole } = await readAtMost(req, bufferBytesMax);
  if (mediaType(req) === '' && !isText(bytes)) {
    return { render: () => (isWhole ? bytes : streamed(req, (rest) => followedBy(bytes, rest))) };
  }
  if (isWhole) {
    if (!mayHoldBraces(bytes, context)) return { render: () => bytes };
    const template = bodyTemplate(bytes, context, tally);
    return { render: (values, { budget }) => template.render(values, budget) };
  }
  return {
    render: (_, options) =>
      streamed(req, (rest) => expandStream(followedBy(bytes, rest), { context, ...options })),
  };
}

function streamed(
  req: IncomingMessage,
  through: (body: RequestBody) => AsyncIterable<Buffer>,
): OutgoingBody {
  return () => {
    const caller = new RequestBody(req);
    const stream = through(caller);
    const isReadable = stream instanceof Readable;
    return { caller, stream: isReadable ? stream : Readable.from(stream, { objectMode: false }) };
  };
}

async function* followedBy(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/** How the body is scanned; undefined: not at all. */
function contextOf(req: IncomingMessage): BodyContext | undefined {
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') return undefined;
  const type = mediaType(req);
  if (isJson(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  const isTextual = type === '' || /^text\/|^application\/xml$|\+xml$/.test(type);
  return isTextual ? 'text' : undefined;
}

/** One that breaks off within a character may be the beginning of a text. */
function isText(bytes: Buffer): boolean {
  return [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, Math.max(bytes.length - cut, 0))));
}

function mayHoldBraces(bytes: Buffer, context: BodyContext): boolean {
  if (bytes.includes('{{')) return true;
  return context === 'form' && encodedBraces.test(bytes.toString('latin1'));
}
