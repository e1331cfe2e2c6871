import type { IncomingMessage } from 'node:http';
import { Problem } from '@glovebox/problems';
import type { GatewayContext } from '../context';
import type { Outgoing } from '../fill-in';
import { readingOf, textOfBody } from './content';
import { runTransform, type Transforming } from './run-transform';
import { seenBody, seenHeaders } from './seen-by-code';
import type { Sendable } from './sent-by-code';

/** A request with its expressions filled in, and its body as it came. */
export interface Prepared extends Outgoing {
  readonly whole: Buffer | undefined;
  readonly secrets: readonly unknown[];
}

/** The request as code makes it, or the answer that code gives in its place. */
export async function transformRequest(
  ctx: GatewayContext,
  transforming: Transforming,
  req: IncomingMessage,
  prepared: Prepared,
): Promise<Outgoing | { readonly answer: Sendable }> {
  const { requestTransform } = transforming.decision.proxy;
  const { suffix, query } = prepared;
  if (!requestTransform) return prepared;
  const headers = seenHeaders(prepared.headers);
  if (req.headers.host !== undefined) headers.host = req.headers.host;
  // What code sees is unpacked.
  delete headers['content-encoding'];
  const args = {
    ...(await seenBodyOf(transforming, prepared)),
    headers,
    method: req.method,
    path: suffix,
    query: query === '' ? '' : `?${query}`,
  };
  // A body may take its time to come.
  await transforming.decision.confirm();
  const made = await runTransform(ctx, transforming, 'request transform', requestTransform, args);
  if (made.isAnswer) return { answer: made };
  return { suffix, query, headers: made.headers, body: made.body };
}

async function seenBodyOf({ room }: Transforming, { headers, body, whole }: Prepared) {
  if (!whole || !Buffer.isBuffer(body)) return {};
  const reading = readingOf(headers);
  const text = await textOfBody(body, reading, room.keep, unreadable);
  const received = body === whole ? text : await textOfBody(whole, reading, room.keep, unreadable);
  return room.takeApart(body, () => seenBody(text, reading, received));
}

const unreadable = (detail: string, cause?: unknown): Problem =>
  new Problem('invalid_request', { detail, cause });
