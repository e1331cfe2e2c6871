import { spawn, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Runtime } from '@glovebox/sandbox';
import {
  channelOf,
  launch,
  pidInside,
  runtimeFiles,
  type IsolationLevel,
  type LaunchFiles,
  type LaunchLimits,
} from '../process/launcher';
import { takeSandboxUid } from '../process/sandbox-uids';

/**
 * A process in the place of the runner: it has its user, holds a secret in its environment, and
 * starts sandboxes as a runner does. A spec that is root starts it as another user, because a runner
 * in production is not root. Without arguments but what the spec sends.
 */
export interface Order {
  readonly level: IsolationLevel;
  readonly runtime: Runtime;
  /** A script of Node, or the program that tries system calls. */
  readonly program: { readonly script: string } | { readonly syscalls: string };
  readonly landlockAbi?: number;
  readonly files: LaunchFiles;
  readonly limits: LaunchLimits;
  /** A folder that everybody may write to. */
  readonly folder: string;
  readonly addon: string;
}

/** All that a hostile program could want, in reach of the user that it has. */
interface Targets {
  readonly runner: number;
  readonly sibling: number;
  readonly address: string;
  readonly port: number;
  readonly folder: string;
  readonly readable: string;
  readonly addon: string;
  readonly node: string;
  readonly loader: string;
}

export interface Answer {
  readonly said: string;
  readonly uid: number;
  readonly signal: string | null;
  /** Names and contents of the folder afterwards. */
  readonly left: Readonly<Record<string, string>>;
}

const waiting = `require('fs').writeSync(3, 'ready\\n'); setInterval(() => {}, 1e6);`;

async function carryOut(order: Order): Promise<Answer> {
  const folder = mkdtempSync(join(order.folder, 'targets-'));
  chmodSync(folder, 0o755);
  const listening = await listen(folder);
  const sibling = start(order, writeScript(folder, 'sibling.js', waiting));
  const program = 'script' in order.program ? order.program.script : '';
  const readable = writeScript(folder, 'program.js', program);
  const lent = prepare(folder, order.addon);
  try {
    const { node, loader } = runtimeFiles(order.files, order.runtime);
    const targets: Targets = {
      runner: process.pid,
      sibling: (await ready(sibling)).pid,
      address: firstMappedAddress(),
      port: listening.port,
      folder,
      readable,
      addon: join(folder, 'addon.node'),
      node,
      loader,
    };
    const child = start(order, readable, { targets, lent });
    const ended = once(child, 'close') as Promise<[number | null, string | null]>;
    let said = '';
    channelOf(child).on('data', (chunk: Buffer) => (said += chunk.toString()));
    const { uid } = await ready(child);
    if (process.getuid?.() === 0) giveAway(folder, uid);
    channelOf(child).write('x');
    const [, signal] = await ended;
    return { said: said.replace('ready\n', ''), uid, signal, left: contents(folder) };
  } finally {
    closeSync(lent);
    await end(sibling);
    listening.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

// ---- processes ----

function start(
  { files, level, limits, program, runtime, landlockAbi }: Order,
  script: string,
  attack?: { targets: Targets; lent: number },
): ChildProcess {
  const targets = attack?.targets;
  const isNative = attack !== undefined && 'syscalls' in program;
  const parameters = !targets
    ? []
    : isNative
      ? [
          '--targets',
          ...[targets.runner, targets.sibling, targets.address, targets.port].map(String),
          ...[targets.folder, targets.readable],
        ]
      : [JSON.stringify(targets)];
  const node = isNative ? program.syscalls : runtimeFiles(files, runtime).node;
  const stderr = isNative ? attack.lent : 'pipe';
  if (level === 0) return startPlain(limits, [node, script, ...parameters], stderr);
  const own = { ...runtimeFiles(files, runtime), node };
  return launch({
    files: { ...files, probe: script, runtimes: { ...files.runtimes, [runtime]: own } },
    ...{ level, limits, runtime, script: 'probe', scriptArguments: parameters, stderr },
    ...(landlockAbi === undefined ? {} : { landlockAbi }),
  });
}

/** An ordinary child with the uid that a sandbox would have, and without any flag of Node. */
function startPlain(
  { uidFirst }: LaunchLimits,
  [command = '', ...parameters]: readonly string[],
  stderr: 'pipe' | number,
): ChildProcess {
  const user = process.getuid?.() === 0 ? takeSandboxUid(uidFirst) : undefined;
  return spawn(command, parameters, {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', stderr, 'pipe', 'ignore'],
    ...(user === undefined ? {} : { uid: user.uid, gid: user.uid }),
  });
}

/** Waits until the process says that it is ready: it is what it will be, and who. */
async function ready(child: ChildProcess): Promise<{ pid: number; uid: number }> {
  const pid = (await pidInside(child)) ?? child.pid ?? 0;
  const isReady = once(channelOf(child), 'data');
  let complaint = 'it did not start: ';
  child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const hasEnded = once(child, 'close').then(() => Promise.reject(new Error(complaint)));
  await Promise.race([isReady, hasEnded]);
  hasEnded.catch(() => undefined);
  const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { pid, uid: Number(uid) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

// ---- targets ----

function writeScript(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Returns a file that is open for writing. */
function prepare(folder: string, addon: string): number {
  for (const name of ['victim', 'lent', 'from', 'gone', 'private']) {
    writeFileSync(join(folder, name), name);
  }
  chmodSync(join(folder, 'private'), 0o600);
  mkdirSync(join(folder, 'empty'));
  symlinkSync('victim', join(folder, 'link'));
  copyFileSync(addon, join(folder, 'addon.node'));
  return openSync(join(folder, 'lent'), 'r+');
}

function giveAway(folder: string, uid: number): void {
  for (const name of readdirSync(folder)) {
    if (name !== 'private') lchownSync(join(folder, name), uid, uid);
  }
  chownSync(folder, uid, uid);
}

function contents(folder: string): Record<string, string> {
  const text = (name: string): string => {
    try {
      return readFileSync(join(folder, name), 'utf8');
    } catch {
      return '';
    }
  };
  const ours = /^(sibling\.js|program\.js|addon\.node|listener)$/;
  const names = readdirSync(folder).filter((name) => !ours.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, text(name)]));
}

function firstMappedAddress(): string {
  const first = /^([0-9a-f]+)-/.exec(readFileSync('/proc/self/maps', 'latin1'))?.[1];
  return String(Number.parseInt(first ?? '0', 16));
}

/** Listens on TCP of both families, UDP, a socket file and an abstract socket. */
async function listen(folder: string): Promise<{ port: number; close(): void }> {
  const tcp = createServer().listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const address = tcp.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const others = [
    createServer().listen(port, '::1'),
    createServer().listen({ path: join(folder, 'listener'), writableAll: true }),
    createServer().listen(`\0${[...String(port)].reverse().join('')}`),
  ];
  await Promise.all(others.map((server) => once(server, 'listening')));
  const udp = createSocket('udp4').bind(port, '127.0.0.1');
  await once(udp, 'listening');
  udp.on('message', (query, { port: to }) => udp.send(resolved(query), to, '127.0.0.1'));
  return { port, close: () => [tcp, ...others, udp].forEach((each) => each.close()) };
}

/** The answer of a name server: every name is 127.0.0.1. */
function resolved(query: Buffer): Buffer {
  if (query.length < 12) return query;
  const answer = Buffer.from('c00c000100010000003c00047f000001', 'hex');
  const end = query.indexOf(0, 12) + 5;
  const head = Buffer.from(query.subarray(0, end));
  head.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], 2);
  return Buffer.concat([head, answer]);
}

process.on('message', (order: Order) => {
  carryOut(order).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ fault: String((error as Error).stack) }),
  );
});
process.once('disconnect', () => process.exit());
