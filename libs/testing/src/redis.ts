import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { certificateFiles, type Certificate, type CertificateFiles } from './certificate-files';
import { fromTestRun } from './environment';
import { freePort } from './free-port';
import { waitFor } from './wait-for';

/** The Redis that all suites of a run share. Use keys of your own, or a private Redis. */
export function testRedisUrl(database = 0): string {
  const url = new URL(fromTestRun('TEST_REDIS_URL'));
  url.pathname = `/${database}`;
  return url.href;
}

export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it cleanly. Data is not kept. */
  stop(): Promise<void>;
  /** Ends it as kill -9 does. */
  kill(): Promise<void>;
}

interface ServerCommand {
  command: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
}

/**
 * Starts a Redis that a test may stop, flush, fill or stall. `port` brings one back at its old
 * port.
 */
export async function startRedis({
  port,
  args = [],
  tls,
}: {
  port?: number;
  args?: readonly string[];
  /** Then TLS is all that it speaks, at `localhost`, so that `url` needs the authority to trust. */
  tls?: Certificate;
} = {}): Promise<PrivateRedis> {
  const { command, ...options } = JSON.parse(fromTestRun('TEST_REDIS_SERVER')) as ServerCommand;
  const chosen = port ?? (await freePort());
  const files = tls && certificateFiles(tls, options);
  const child = spawn(command, [...settings(chosen, files), ...args], {
    ...options,
    cwd: '/',
    stdio: 'ignore',
  });
  const exited = once(child, 'exit').then(() => files?.remove());
  await waitFor(() => answers(child, chosen, files !== undefined), { timeoutMs: 10_000 });
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  return {
    url: files ? `rediss://localhost:${chosen}` : `redis://127.0.0.1:${chosen}`,
    port: chosen,
    pid: child.pid ?? 0,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function settings(port: number, files?: CertificateFiles): string[] {
  const pairs = {
    bind: '127.0.0.1',
    port: files ? '0' : String(port),
    ...(files && {
      'tls-port': String(port),
      'tls-cert-file': files.cert,
      'tls-key-file': files.key,
      'tls-ca-cert-file': files.cert,
      'tls-auth-clients': 'no',
    }),
    save: '',
    appendonly: 'no',
    'maxmemory-policy': 'noeviction',
  };
  return Object.entries(pairs).flatMap(([name, value]) => [`--${name}`, value]);
}

function answers(child: ChildProcess, port: number, isTls: boolean): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
  return new Promise((resolve) => {
    const ping = (): void => void socket.write('PING\r\n');
    const socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, ping)
      : connect(port, '127.0.0.1', ping);
    const finish = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('data', (data) => finish(/^(?:\+PONG|-NOAUTH)/.test(data.toString())));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
