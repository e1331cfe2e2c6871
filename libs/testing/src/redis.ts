import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
}: { port?: number; args?: readonly string[] } = {}): Promise<PrivateRedis> {
  const chosen = port ?? (await freePort());
  return startServer(chosen, [...settings(chosen), ...args]);
}

/** Starts a Redis that follows another one. It may write no file. */
export const startReplica = ({ port }: PrivateRedis): Promise<PrivateRedis> =>
  startRedis({
    args: ['--replicaof', '127.0.0.1', String(port), '--repl-diskless-load', 'swapdb'],
  });

/** Starts a Redis Sentinel that watches one server, and replaces it soon after it is gone. */
export async function startSentinel(watched: PrivateRedis): Promise<PrivateRedis> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${folder}`,
    `sentinel monitor mymaster 127.0.0.1 ${watched.port} 1`,
    'sentinel down-after-milliseconds mymaster 500',
    'sentinel failover-timeout mymaster 5000',
  ];
  // Sentinel writes it anew.
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { uid, gid } = serverCommand();
  if (uid !== undefined && gid !== undefined) {
    for (const path of [folder, file]) chownSync(path, uid, gid);
  }
  const sentinel = await startServer(port, [file, '--sentinel']);
  const removed = (end: () => Promise<void>) => async (): Promise<void> => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...sentinel, stop: removed(sentinel.stop), kill: removed(sentinel.kill) };
}

const serverCommand = (): ServerCommand =>
  JSON.parse(fromTestRun('TEST_REDIS_SERVER')) as ServerCommand;

async function startServer(chosen: number, args: readonly string[]): Promise<PrivateRedis> {
  const { command, ...options } = serverCommand();
  const child = spawn(command, args, { ...options, cwd: '/', stdio: 'ignore' });
  const exited = once(child, 'exit');
  await waitFor(() => answers(child, chosen), { timeoutMs: 10_000 });
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    pid: child.pid ?? 0,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function settings(port: number): string[] {
  const pairs = {
    bind: '127.0.0.1',
    port: String(port),
    save: '',
    appendonly: 'no',
    'maxmemory-policy': 'noeviction',
    'repl-diskless-sync-delay': '0',
  };
  return Object.entries(pairs).flatMap(([name, value]) => [`--${name}`, value]);
}

function answers(child: ChildProcess, port: number): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const finish = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('data', (data) => finish(data.toString().startsWith('+PONG')));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
