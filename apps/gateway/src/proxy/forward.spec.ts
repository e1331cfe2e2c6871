import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { fastest } from '@glovebox/testing';
import { CallerResponse } from '../connection/caller-response';
import type { Call } from '../observing/call';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { startRawServer } from '../spec-sockets';
import { exchange, type AnswerTaker, type OutgoingRequest } from './forward';

let gateway: SpecGateway;

beforeAll(async () => {
  gateway = await startSpecGateway();
});
afterAll(() => gateway.close());

const decision = { isConfirmed: () => true } as OutgoingRequest['decision'];

/** Sends a GET to a destination whose answer moves and never ends. */
async function takeEndlessAnswer(answerMs: number, taker: Partial<AnswerTaker> = {}) {
  const server = await startRawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 10);
    socket.once('close', () => clearInterval(drip));
  });
  const { ctx } = gateway;
  const res = new CallerResponse(new IncomingMessage(new Socket()));
  const destination = ctx.destinations.find('tenant', server.url, null);
  const request: OutgoingRequest = {
    ...{ decision, method: 'GET', host: 'a', target: '/', headers: [], body: null },
    ...{ firstByteMs: 5_000, bodyIdleMs: 5_000, answerMs, tunnels: null },
  };
  const ignore = (): void => undefined;
  const answer: AnswerTaker = {
    ...{ headersOf: (_, raw) => raw, head: ignore, headAlone: ignore, part: () => true },
    ...{ end: ignore, ...taker },
  };
  const caller = { res, ours: ctx.headers, call: {} as Call };
  try {
    await exchange(destination, request, caller, answer);
  } finally {
    await server.close();
  }
}

it('an answer that moves for ever ends with the time for a whole answer', async () => {
  const answerMs = async (): Promise<number> => {
    const begun = performance.now();
    let parts = 0;
    const part = (): boolean => (parts += 1) > 0;
    await expect(takeEndlessAnswer(300, { part })).rejects.toMatchObject({
      code: 'destination_timeout',
    });
    expect(parts).toBeGreaterThan(1);
    return performance.now() - begun;
  };
  expect(await fastest(4_000, answerMs)).toBeLessThan(4_000);
});

it('a taker that refuses a part ends the exchange with its problem', async () => {
  const part = (): boolean => {
    throw new Error('not this');
  };
  await expect(takeEndlessAnswer(5_000, { part })).rejects.toMatchObject({
    code: 'destination_unreachable',
    cause: new Error('not this'),
  });
});
