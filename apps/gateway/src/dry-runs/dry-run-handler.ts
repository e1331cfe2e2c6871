import { isOf, orderBytesMax, toOrder, type Ticket } from '@glovebox/dry-runs';
import { Problem } from '@glovebox/problems';
import { parseStrictJson, readBody, traceHeader } from '@glovebox/wire';
import { sendDone } from '../call/answers';
import { admitCall } from '../call/call-shares';
import type { CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import { admitBody } from '../connection/intake';
import type { GatewayContext } from '../context';
import type { Call } from '../observing/call';
import { rehearseProxy } from './rehearse-proxy';
import { rehearseReactor } from './rehearse-reactor';

/**
 * Carries out a dry run that a management API has checked and recorded. It takes the places of a
 * call, and is no run of anything: it is neither logged nor counted as one (docs/adr/0099).
 */
export async function handleDryRun(
  ctx: GatewayContext,
  req: CallerRequest,
  res: CallerResponse,
  ticket: Ticket,
  call: Call,
): Promise<void> {
  const { tenantId, actorId } = ticket;
  // Its caller is told causes. The management API logs the call that it came with.
  call.isKeyed = true;
  call.isPassedOn = true;
  call.tenantId = tenantId;
  const room = admitCall(ctx, res, call, { tenantId, caller: actorId });
  const release = ctx.shares.dryRuns.takeNow(tenantId);
  try {
    admitBody(req, res);
    const bytes = await readBody(req, orderBytesMax, room);
    if (!isOf(ticket, bytes)) {
      throw new Problem('invalid_request', { detail: 'The order is not the one of its ticket.' });
    }
    ctx.usedTickets.use(ticket);
    const json = parseStrictJson(bytes.toString('utf8'), { free: 'all', rounds: true });
    const order = toOrder(await room.takeApart(bytes.length, json));
    const rehearsal = { res, call, room };
    const answer =
      order.kind === 'reactor'
        ? await rehearseReactor(ctx, order, rehearsal)
        : await rehearseProxy(ctx, order, rehearsal);
    const text = JSON.stringify(answer);
    await sendDone(ctx, res, room, { status: 200, text }, { [traceHeader]: call.traceId });
  } finally {
    release();
  }
}
