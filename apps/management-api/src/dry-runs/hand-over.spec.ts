import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Tickets, type DryRunOrder } from '@glovebox/dry-runs';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';
import { DryRunGateway } from './hand-over';

const api = useTestApi();
const answers: ServerResponse[] = [];
const silent = createServer((_, answer) => void answers.push(answer));
let gateway: DryRunGateway;

beforeAll(async () => {
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  gateway = new DryRunGateway(`http://127.0.0.1:${port}`, await Tickets.by(api.ctx.sealer));
});
afterAll(async () => {
  gateway.close();
  silent.closeAllConnections();
  silent.close();
  await once(silent, 'close');
});

it('at most 32 dry runs are under way at a gateway: one more is refused at once, and none waits with its body', async () => {
  const order = {
    ...{ kind: 'proxy', id: randomUUID(), traceId: 'trace' },
    caller: { tenantId: randomUUID(), actorId: randomUUID() },
  } as unknown as DryRunOrder;
  const waiting = { signal: new AbortController().signal, room: { keep: () => undefined } };
  const hand = () => gateway.carryOut(order, waiting);
  const underWay = Array.from({ length: 32 }, hand);
  await expect(hand()).rejects.toMatchObject({ code: 'service_unavailable' });
  await waitFor(() => answers.length === 32);
  for (const answer of answers.splice(0)) answer.end('{}');
  expect(await Promise.all(underWay)).toHaveLength(32);

  const next = hand();
  await waitFor(() => answers.length === 1);
  answers[0]?.destroy();
  await expect(next).rejects.toMatchObject({ code: 'service_unavailable' });
});
