import { freePort } from '@glovebox/testing';
import { startSpecGateway } from '../spec-gateway';

/** Starts a gateway that also serves forward mode. */
export async function startSpecForward(environment: Record<string, string> = {}) {
  const forwardPort = await freePort();
  const gateway = await startSpecGateway({ FORWARD_PORT: String(forwardPort), ...environment });
  return { ...gateway, forwardPort };
}

export type SpecForward = Awaited<ReturnType<typeof startSpecForward>>;
