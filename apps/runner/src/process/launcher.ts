import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, constants, copyFileSync, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Runtime } from '@glovebox/sandbox';
import { locateBundles, type Bundles } from './bundles';
import { dataLimitMb } from './memory';
import { takeSandboxUid } from './sandbox-uids';
import { startScript } from './start-script';

/**
 * The levels of isolation.
 * - 0: an ordinary child process without any isolation.
 * - 2: Landlock, seccomp and limits by the helper, which any Linux pod allows.
 * - 3: the same inside namespaces of its own, where the machine allows them.
 */
export type IsolationLevel = 0 | 2 | 3;

/** The uid inside the namespace of level 3, which holds one user. The uid outside differs. */
const uidInNamespace = 65_534;

export interface LaunchFiles {
  readonly helper: string;
  readonly bootstrap: string;
  readonly probe: string;
  /** The thread of a sandbox that a debugger sees. */
  readonly inspector: string;
  readonly bundles: Bundles;
  readonly bwrap: string | undefined;
  /** The runtimes that can be launched. One that is fetched later is added. */
  readonly runtimes: Partial<Record<Runtime, RuntimeFiles>>;
}

interface RuntimeFiles {
  readonly node: string;
  /** The dynamic loader, the only program besides Node that may be executed. */
  readonly loader: string;
  readonly libraries: readonly string[];
}

export interface LaunchLimits {
  /** The memory of one sandbox, on each runtime. */
  readonly memoryMb: number;
  readonly openFilesMax: number;
  /** Threads of one uid: the kernel counts by uid. */
  readonly threadsMax: number;
  /** The first uid of sandboxes. A runner that is not root cannot assign uids. */
  readonly uidFirst: number;
}

/** The time for bubblewrap to start the process inside, which takes it milliseconds. */
const namingLimitMs = 10_000;

const channelFd = 3;
const infoFd = 4;

/** Only the loader and Node's crypto read these. Files that the machine lacks are skipped. */
const systemFiles = ['/etc/ld.so.cache', '/dev/null', '/dev/urandom', '/etc/ssl/openssl.cnf'];

// ---- the files of a launch, where a sandbox can reach them ----

export function locateFiles(options: {
  nativeDir: string;
  scriptsDir: string;
  workDir: string;
  bwrap: string | undefined;
  offered: { readonly packages: readonly string[] };
  packageFolders: readonly string[];
  runtimesDir: string;
  offeredRuntimes: readonly Runtime[];
  platform?: NodeJS.Platform;
}): LaunchFiles {
  const { nativeDir, scriptsDir, workDir } = options;
  const isLinux = (options.platform ?? process.platform) === 'linux';
  const reachable = (file: string): string => makeReachable(existing(file), workDir);
  return {
    helper: isLinux ? existing(join(nativeDir, `sandbox-exec-${process.arch}`)) : '',
    bootstrap: reachable(join(scriptsDir, 'bootstrap.main.js')),
    probe: reachable(join(scriptsDir, 'probe.main.js')),
    inspector: reachable(join(scriptsDir, 'inspector.main.js')),
    bundles: reachableBundles(options),
    bwrap: options.bwrap,
    runtimes: locateRuntimes(options),
  };
}

/** Outside Linux the runtimes are no programs. Code can be tried out there, on this Node. */
function locateRuntimes(options: {
  runtimesDir: string;
  offeredRuntimes: readonly Runtime[];
  workDir: string;
  platform?: NodeJS.Platform;
}): Partial<Record<Runtime, RuntimeFiles>> {
  const isLinux = (options.platform ?? process.platform) === 'linux';
  const onThisNode = { node: process.execPath, loader: '', libraries: [] };
  return Object.fromEntries(
    options.offeredRuntimes.flatMap((runtime) => {
      const found = isLinux ? locateRuntime(runtime, options) : onThisNode;
      return found === undefined ? [] : [[runtime, found]];
    }),
  );
}

export function locateRuntime(
  runtime: Runtime,
  { runtimesDir, workDir }: { runtimesDir: string; workDir: string },
): RuntimeFiles | undefined {
  const node = join(runtimesDir, runtime, 'node_modules', process.arch, 'bin', 'node');
  if (!existsSync(node)) return undefined;
  return { node: makeReachable(existing(node), workDir, runtime), ...librariesOf(node) };
}

export function runtimeFiles({ runtimes }: LaunchFiles, runtime: Runtime): RuntimeFiles {
  const files = runtimes[runtime];
  if (files === undefined) throw new Error(`${runtime} is not installed`);
  return files;
}

function existing(file: string): string {
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  return realpathSync(file);
}

/** Under root the sandbox is another user. A checkout in a closed home is copied out of it. */
function makeReachable(file: string, workDir: string, prefix = parentOf(file)): string {
  if (process.getuid?.() !== 0 || isOpenToOthers(file)) return file;
  const copy = join(workDir, `${prefix}-${basename(file)}`);
  copyFileSync(file, copy, constants.COPYFILE_FICLONE);
  chmodSync(copy, 0o755);
  return copy;
}

const parentOf = (file: string): string => basename(dirname(dirname(file)));

function reachableBundles(options: {
  offered: { readonly packages: readonly string[] };
  packageFolders: readonly string[];
  workDir: string;
}): Bundles {
  const located = locateBundles(options.offered.packages, options.packageFolders);
  return Object.fromEntries(
    Object.entries(located).map(([name, file]) => [
      name,
      makeReachable(existing(file), options.workDir, 'package'),
    ]),
  );
}

function isOpenToOthers(file: string): boolean {
  if ((statSync(file).mode & 0o004) === 0) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === '/') return true;
  }
}

/** Asks the dynamic loader like ldd, so that the sandbox gets these files and no folders. */
function librariesOf(node: string): { loader: string; libraries: string[] } {
  const trace = execFileSync(node, [], {
    env: { LD_TRACE_LOADED_OBJECTS: '1' },
    encoding: 'utf8',
    timeout: 10_000,
  });
  const libraries = [...trace.matchAll(/=> (\/\S+) \(/g)].map(([, path]) => String(path));
  const loader = /^\s+(\/\S+) \(/m.exec(trace)?.[1];
  if (loader === undefined || libraries.length === 0) {
    throw new Error(`${node} cannot be loaded on this machine (glibc is needed)`);
  }
  return { loader, libraries };
}

// ---- the launch itself ----

export function launch(options: {
  files: LaunchFiles;
  level: IsolationLevel;
  limits: LaunchLimits;
  runtime: Runtime;
  script: 'bootstrap' | 'probe';
  scriptArguments?: readonly string[];
  /** A thread of its own lets a debugger in. */
  isInspected?: boolean;
  /** The file for the helper's refusals; none by default. A number is an open file. */
  stderr?: 'ignore' | 'pipe' | number;
  /** Specs act like a kernel that has no newer Landlock. */
  landlockAbi?: number;
}): ChildProcess {
  const { files, level, limits } = options;
  const runtime = runtimeFiles(files, options.runtime);
  const script = files[options.script];
  const node = [
    runtime.node,
    ...[`--max-old-space-size=${Math.floor(limits.memoryMb / 2)}`, '--max-semi-space-size=8'],
    ...['--no-addons', '--no-warnings', '--no-global-search-paths'],
    ...['-e', startScript, '--', script],
    ...(options.scriptArguments ?? []),
    ...(options.isInspected ? [files.inspector] : []),
  ];
  const threads = options.isInspected ? 2 : 1;
  const user = mayGiveUids() ? takeSandboxUid(limits.uidFirst) : undefined;
  const helper = [
    files.helper,
    ...(user !== undefined && level === 2 ? ['--uid', String(user.uid)] : []),
    ...['--data-mb', String(dataLimitMb(options.runtime, limits.memoryMb, threads))],
    ...['--nofile', String(limits.openFilesMax)],
    ...['--nproc', String(limits.threadsMax)],
    ...(options.landlockAbi === undefined ? [] : ['--landlock-abi', String(options.landlockAbi)]),
    ...['--exec', runtime.node, '--exec', runtime.loader],
    ...[
      ...[...runtime.libraries, ...systemFiles.filter((file) => existsSync(file))],
      ...[script, files.inspector, ...Object.values(files.bundles)],
    ].flatMap((file) => ['--read', file]),
    '--',
    ...node,
  ];
  const [command = '', ...parameters] = commandOf(level, { files, runtime, script, node, helper });
  const release = (): void => user?.release();
  try {
    const child = spawn(command, parameters, {
      cwd: '/',
      env: {},
      stdio: [
        'ignore',
        'ignore',
        options.stderr ?? 'ignore',
        'pipe',
        level === 3 ? 'pipe' : 'ignore',
      ],
      // At level 2 the helper itself changes the user, and needs root until then.
      ...(user !== undefined && level !== 2 ? { uid: user.uid, gid: user.uid } : {}),
    });
    child.once('exit', release);
    child.once('error', release);
    requirePipes(child);
    return child;
  } catch (error) {
    release();
    throw error;
  }
}

/** A process that has no file left for the pipes of a child gets one without them from Node. */
function requirePipes({ stdio }: { readonly stdio: ChildProcess['stdio'] | undefined }): void {
  if (stdio === undefined) throw new Error('no open file is left for its pipes');
}

const mayGiveUids = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

/** Made only for the launched level: a machine may lack what another level needs. */
function commandOf(
  level: IsolationLevel,
  parts: {
    files: LaunchFiles;
    runtime: RuntimeFiles;
    script: string;
    node: readonly string[];
    helper: readonly string[];
  },
): readonly string[] {
  switch (level) {
    case 0:
      return parts.node;
    case 2:
      return parts.helper;
    case 3:
      return [...namespaces(parts), ...parts.helper];
  }
}

function namespaces({
  files,
  runtime,
  script,
}: {
  files: LaunchFiles;
  runtime: RuntimeFiles;
  script: string;
}): string[] {
  if (files.bwrap === undefined) throw new Error('level 3 needs bubblewrap (bwrap on the PATH)');
  const visible = [
    ...[runtime.node, runtime.loader, ...runtime.libraries],
    ...[files.helper, script, files.inspector, ...Object.values(files.bundles)],
  ];
  const config = systemFiles.filter((file) => file.startsWith('/etc/') && existsSync(file));
  return [
    files.bwrap,
    ...['--unshare-all', '--die-with-parent', '--new-session', '--as-pid-1', '--cap-drop', 'ALL'],
    ...['--uid', String(uidInNamespace), '--gid', String(uidInNamespace)],
    ...['--hostname', 'sandbox'],
    ...[...visible, ...config].flatMap((file) => ['--ro-bind', file, file]),
    ...['--dev', '/dev', '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/'],
    ...['--info-fd', String(infoFd), '--'],
  ];
}

/**
 * Under bubblewrap the child is its monitor. Killing the process inside leaves nothing behind: the
 * monitor notices and ends. Killing the monitor would leave an orphan for pid 1. Only one that has
 * named no process in time is killed itself.
 */
export async function pidInside(
  child: ChildProcess,
  limitMs = namingLimitMs,
): Promise<number | undefined> {
  const info = child.stdio[infoFd];
  if (!info || !('setEncoding' in info)) return undefined;
  let text = '';
  info.setEncoding('utf8');
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  for await (const chunk of info) text += String(chunk);
  clearTimeout(timer);
  const pid = /"child-pid": (\d+)/.exec(text)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

export function channelOf(child: ChildProcess): import('node:net').Socket {
  return child.stdio[channelFd] as import('node:net').Socket;
}
