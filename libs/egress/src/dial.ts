import { connect as connectTcp, type Socket } from 'node:net';
import {
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { limitTime, untilAborted } from './abort';
import { familyOf } from './address-table';
import { judge, type EgressPolicy } from './policy';
import type { LookUps } from './names/shared-look-ups';
import type { OwnServices } from './own-services';
import { refusePlainText } from './plain-text';
import { EgressRefused, EgressUnreachable, unreachable } from './refusal';
import { withoutDot } from './names/system-names';
import { canonicalHost } from './url';

/** `ca` replaces Node's roots. `cert` and `key` are our own certificate. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

export interface DialTarget extends TlsMaterial {
  /** The tenant of the connection. Its look-ups count against that tenant's share. */
  readonly owner: string;
  readonly host: string;
  readonly port: number;
  /** With false the caller gets the bare connection, on which it speaks for itself. */
  readonly tls: boolean;
  readonly signal?: AbortSignal | undefined;
  /** For all of it: look-up, connection and TLS. */
  readonly timeoutMs?: number | undefined;
}

export interface Rules {
  readonly policy: EgressPolicy;
  readonly own: OwnServices;
  readonly lookUps: LookUps;
}

const dialTimeoutMs = 5_000;
const addressesTriedMax = 4;

/**
 * The only way out: looks up once, checks every answer, and connects to an address that was
 * checked. `plainText` rules a connection without TLS to an address where plain http is not
 * allowed. A connection known to carry http is `refused`. A connection whose bytes are the caller's
 * is `watched`: it must send TLS.
 */
export async function dial(
  { policy, own, lookUps }: Rules,
  target: DialTarget,
  plainText: 'refused' | 'watched' = 'watched',
): Promise<Socket | TLSSocket> {
  const host = canonicalHost(target.host);
  const { port, tls } = target;
  if (host === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new EgressRefused('not_a_url');
  }
  const timeoutMs = target.timeoutMs ?? dialTimeoutMs;
  const progress: Progress = { phase: 'name', timeoutMs };
  const limit = limitTime(timeoutMs, () => late(progress), target.signal);
  const deadline = performance.now() + timeoutMs;
  try {
    const isName = familyOf(host) === undefined;
    const [addresses] = await Promise.all([
      isName ? lookUps.addressesOf(host, target.owner, limit.signal) : [host],
      untilAborted(own.refresh(), limit.signal),
    ]);
    let mayBePlain = true;
    for (const address of addresses) {
      // One forbidden answer refuses all: a name that mixes them aims at what lies behind us.
      const verdict = judge(policy, own, address, port);
      if (verdict === 'address' || verdict === 'own_service') throw new EgressRefused(verdict);
      mayBePlain &&= policy.allowHttp || verdict === 'named';
    }
    const mustEncrypt = !tls && !mayBePlain;
    if (mustEncrypt && plainText === 'refused') throw new EgressRefused('plain_http');

    const connect = tls ? tlsConnect(target, host, isName) : tcpConnect(port);
    const socket = await connectInTurn(addresses, connect, deadline, progress, limit.signal);
    if (mustEncrypt) refusePlainText(socket);
    return socket;
  } finally {
    limit.end();
  }
}

/** How far a connection has come. */
interface Progress {
  phase: 'name' | 'connect' | 'tls';
  readonly timeoutMs: number;
}

const late = ({ phase, timeoutMs }: Progress): EgressUnreachable =>
  new EgressUnreachable('ETIMEDOUT', phase, timeoutMs);

type Connect = (address: string) => Socket | TLSSocket;

function tcpConnect(port: number): Connect {
  // The host is an address, so that net looks nothing up. A read takes all that the kernel has
  // ready.
  const options = { port, highWaterMark: 65_536 };
  return (address) => connectTcp({ ...options, host: address });
}

let plainContext: SecureContext | undefined;

function tlsConnect(target: DialTarget, host: string, isName: boolean): Connect {
  const { port, ca, cert, key } = target;
  const hasMaterial = ca !== undefined || cert !== undefined || key !== undefined;
  const secureContext = hasMaterial
    ? createSecureContext({ ca, cert, key })
    : (plainContext ??= createSecureContext());
  return (address) =>
    connectTls({
      host: address,
      port,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      // Not left to the environment: NODE_TLS_REJECT_UNAUTHORIZED=0 must not open this door.
      rejectUnauthorized: true,
      // SNI and the check of the certificate use the name that was checked, or else the address in
      // `host`. Node's own clients would use the Host header of a request.
      ...(isName ? { servername: withoutDot(host) } : {}),
    });
}

async function connectInTurn(
  addresses: readonly string[],
  connect: Connect,
  deadline: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<Socket | TLSSocket> {
  const tried = addresses.slice(0, addressesTriedMax);
  let failure: EgressUnreachable | undefined;
  for (const [at, address] of tried.entries()) {
    signal.throwIfAborted();
    // A silent address gets its share of the time, so that the next one has a chance.
    const shareMs = (deadline - performance.now()) / (tried.length - at);
    progress.phase = 'connect';
    const attempt = await open(connect(address), shareMs, progress, signal);
    if ('socket' in attempt) return attempt.socket;
    failure = attempt.failure;
    if (failure.phase === 'tls') break;
  }
  signal.throwIfAborted();
  throw failure ?? new EgressUnreachable('ENOTFOUND', 'name');
}

type Attempt = { readonly socket: Socket | TLSSocket } | { readonly failure: EgressUnreachable };

function open(
  socket: Socket | TLSSocket,
  shareMs: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<Attempt> {
  return new Promise((resolve) => {
    const settle = (attempt: Attempt): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError).off('close', onClose);
      // Until the caller has its own listener, an error would end the process.
      socket.on('error', () => undefined);
      if ('failure' in attempt) socket.destroy();
      resolve(attempt);
    };
    const fail = (failure: EgressUnreachable) => settle({ failure });
    const onAbort = () => fail(new EgressUnreachable('ECANCELED', progress.phase));
    const onError = (error: Error) => fail(unreachable(error, progress.phase));
    const onClose = () => fail(new EgressUnreachable('ECONNRESET', progress.phase));
    const timer = setTimeout(() => fail(late(progress)), Math.max(shareMs, 1));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', onError).once('close', onClose);
    socket.once('connect', () => {
      progress.phase = 'tls';
      clearTimeout(timer);
      socket.setNoDelay(true).setKeepAlive(true, 60_000);
    });
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => settle({ socket }));
  });
}
