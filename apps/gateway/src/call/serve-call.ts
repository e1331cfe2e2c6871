import type { CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import type { GatewayContext } from '../context';
import type { Call, RouteName } from '../observing/call';
import { sendProblem } from './answers';
import { beginCall, partEnded } from './call-lifetime';

/** Begins the record of a call, does its work, and answers whatever that throws. Hot path. */
export async function serveCall(
  ctx: GatewayContext,
  route: RouteName,
  req: CallerRequest,
  res: CallerResponse,
  work: (call: Call) => Promise<void> | void,
): Promise<void> {
  const call = beginCall(ctx, route, req, res);
  try {
    await work(call);
  } catch (thrown) {
    // Not at once: Node's parser is still at the bytes behind the head, which count as well.
    await null;
    sendProblem(req, res, thrown, call);
  } finally {
    partEnded(call);
  }
}
