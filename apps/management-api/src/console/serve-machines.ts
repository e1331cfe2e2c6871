import type { Express, RequestHandler } from 'express';
import { rolePermissions } from '@glovebox/access';
import { invalid } from '@glovebox/problems';
import { clientNetworkOf } from '@glovebox/wire';
import type { ManagementContext } from '../context';
import type { ApiRequest } from '../http/request';
import { checkSession } from './check-session';
import {
  beginMachine,
  decideMachine,
  findMachine,
  readUserCode,
  takeMachineSession,
} from './machines';
import { readSmallBody } from './read-small-body';
import { toSessionResponse } from './session.dto';
import { noSuchSession, type Session } from './sessions';

interface Answered {
  readonly status: number;
  readonly body?: object;
}

type Work = (request: ApiRequest) => Promise<Answered>;

/**
 * Signs in command lines: one begins and asks again and again, a person at the page decides
 * (docs/adr/0134).
 */
export function serveMachines(http: Express, ctx: ManagementContext): void {
  const post = (path: string, work: Work): void => {
    const handle: RequestHandler = (request, response, next) => {
      work(request as unknown as ApiRequest).then(({ status, body }) => {
        response.status(status);
        if (body) response.json(body);
        else response.end();
      }, next);
    };
    http.post(`/console/machines${path}`, handle);
  };
  post('', (request) => begin(ctx, request));
  post('/session', (request) => take(ctx, request));
  post('/find', (request) => find(ctx, request));
  post('/decide', (request) => decide(ctx, request));
}

/** Plain letters: text that looks like another name would help to deceive who confirms. */
const machinePattern = /^[!-~](?:[ -~]{0,98}[!-~])?$/;

async function begin(ctx: ManagementContext, request: ApiRequest): Promise<Answered> {
  ctx.strangers.countSignIn(request);
  const { machine } = await readSmallBody(ctx, request);
  if (typeof machine !== 'string' || !machinePattern.test(machine)) {
    throw invalid({ machine: ['must be 1 to 100 characters of ASCII'] });
  }
  const network = clientNetworkOf(request, ctx.config.CONSOLE_TRUSTED_HOPS);
  return { status: 201, body: await beginMachine(ctx, { machine, network }) };
}

async function take(ctx: ManagementContext, request: ApiRequest): Promise<Answered> {
  const { device_code: given } = await readSmallBody(ctx, request);
  if (typeof given !== 'string') throw invalid({ device_code: ['must be the code of a start'] });
  const deviceHash = ctx.keyHash(given);
  // Whoever waits asks often. Codes that nobody waits with are counted.
  ctx.strangers.admitKey(request, deviceHash);
  try {
    const taken = await takeMachineSession(ctx, deviceHash, request.traceId);
    ctx.strangers.learn(deviceHash, taken === undefined);
    if (!taken) return { status: 202, body: { pending: true } };
    const { key, session, expiresAt } = taken;
    const body = { key, expires_at: expiresAt.toISOString(), ...toSessionResponse(session) };
    return { status: 201, body };
  } catch (error) {
    ctx.strangers.learn(deviceHash, false);
    throw error;
  }
}

async function find(ctx: ManagementContext, request: ApiRequest): Promise<Answered> {
  const session = await sessionOf(ctx, request);
  const { user_code: given } = await readSmallBody(ctx, request);
  const { machine, network, begunAt } = await findMachine(ctx, session, readUserCode(given));
  const { role } = session;
  const may = { role, permissions: rolePermissions[role] };
  return { status: 200, body: { machine, network, begun_at: begunAt.toISOString(), ...may } };
}

async function decide(ctx: ManagementContext, request: ApiRequest): Promise<Answered> {
  const session = await sessionOf(ctx, request);
  const { user_code: given, confirm } = await readSmallBody(ctx, request);
  if (typeof confirm !== 'boolean') throw invalid({ confirm: ['must be true or false'] });
  const code = readUserCode(given);
  await decideMachine(ctx, session, { code, isConfirmed: confirm, traceId: request.traceId });
  return { status: 204 };
}

/** Somebody who is signed in. Guesses of codes are counted as sign-ins are. */
async function sessionOf(ctx: ManagementContext, request: ApiRequest): Promise<Session> {
  ctx.strangers.countSignIn(request);
  await checkSession(ctx, request);
  if (!request.session) throw noSuchSession(undefined);
  return request.session;
}
