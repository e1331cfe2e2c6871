import { spawnSync } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { connect, Socket } from 'node:net';
import { encodeFrame } from '@glovebox/sandbox';

/**
 * Tries to break out from the place where customers' code will run, with all of Node at hand, and
 * reports which attempts succeeded. isolation-levels.ts starts it before anything else.
 */
interface Target {
  readonly runnerPid: number;
  readonly tcpPort: number;
  readonly socketFile: string;
  readonly ownFile: string;
  readonly writableFolder: string;
}

const target = JSON.parse(process.argv[2] ?? '{}') as Target;

/** O_PATH, which Node does not name. */
const pathOnly = 0o10000000;

const attempts: Readonly<Record<string, () => unknown>> = {
  'read a file of the system': () => readFileSync('/etc/passwd'),
  'read a file of the runner': () => readFileSync(target.ownFile),
  "read the runner's environment": () => readFileSync(`/proc/${target.runnerPid}/environ`),
  'read the status of the runner': () => readFileSync(`/proc/${target.runnerPid}/status`),
  'signal the runner': () => process.kill(target.runnerPid, 0),
  'write a file': () => writeFileSync(`${target.writableFolder}/probe-${process.pid}`, 'x'),
  'truncate a file of the runner': () => truncateSync(target.ownFile),
  'truncate a file that it may read': () =>
    openSync(__filename, constants.O_RDONLY | constants.O_TRUNC),
  'learn the status of a file': () => statSync(target.ownFile),
  'learn the status of a file through a path descriptor': () =>
    fstatSync(openSync(target.ownFile, pathOnly)),
  'learn that a file exists': () => accessSync(target.ownFile),
  'learn where its program is': () => readlinkSync('/proc/self/exe'),
  'enter a folder': () => process.chdir(target.writableFolder),
  'start a shell': () => run('/bin/sh', '-c', 'true'),
  'start Node again': () => run(process.execPath, '--version'),
  'make a user namespace': () => run('/usr/bin/unshare', '--user', 'true'),
  'connect over TCP': () => connected(connect(target.tcpPort, '127.0.0.1')),
  'connect to a socket file': () => connected(connect(target.socketFile)),
  'send over UDP': sendDatagram,
};

function run(command: string, ...parameters: string[]): void {
  const { error, status } = spawnSync(command, parameters, { timeout: 2000 });
  if (error !== undefined || status !== 0) throw error ?? new Error(`status ${status}`);
}

async function connected(socket: Socket): Promise<void> {
  await once(socket, 'connect');
  socket.destroy();
}

async function sendDatagram(): Promise<void> {
  const socket = dgram.createSocket('udp4');
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error as Error));
  const sent = new Promise<void>((resolve, reject) => {
    socket.send('x', target.tcpPort, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
  });
  await Promise.race([failed, sent]);
}

async function succeeds(attempt: () => unknown): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch {
    return false;
  }
}

async function main(): Promise<void> {
  const channel = new Socket({ fd: 3, readable: true, writable: true });
  const succeeded: string[] = [];
  for (const [name, attempt] of Object.entries(attempts)) {
    if (await succeeds(attempt)) succeeded.push(name);
  }
  const answer = { attempted: Object.keys(attempts).length, succeeded };
  channel.write(encodeFrame('RESULT', answer), () => process.exit(0));
}

void main();
