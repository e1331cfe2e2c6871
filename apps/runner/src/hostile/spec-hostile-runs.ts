import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateFiles, runtimeFiles, type LaunchFiles } from '../process/launcher';
import { takeSandboxUid } from '../process/sandbox-uids';
import { specConfig } from '../spec-runner';
import type { Answer, Order } from './spec-stand-in-runner';

export type Attack = Pick<Order, 'level' | 'runtime' | 'landlockAbi'> & {
  readonly program: { readonly script: string } | 'system calls';
};

/** Runs hostile programs beside a process in the place of the runner, which is `user`. */
export interface HostileRuns {
  readonly folder: string;
  readonly files: LaunchFiles;
  run(user: 'root' | 'not root', attack: Attack): Promise<Answer>;
  stop(): Promise<void>;
}

const addon = require.resolve(
  `@msgpackr-extract/msgpackr-extract-linux-${process.arch}/node.napi.glibc.node`,
);

export function prepareHostileRuns(): HostileRuns {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-hostile-'));
  chmodSync(folder, 0o777);
  const config = specConfig(folder);
  /** A user who is not root may not reach the repository. */
  const reachable = (file: string, name: string): string => {
    const copy = join(folder, name);
    copyFileSync(file, copy);
    chmodSync(copy, 0o755);
    return copy;
  };
  const native = (name: string): string =>
    reachable(join(config.nativeDir, `${name}-${process.arch}`), name);
  const files = {
    ...locateFiles({ ...config, workDir: folder }),
    helper: native('sandbox-exec'),
  };
  const syscalls = native('try-syscalls');
  const program = reachable(
    join(config.scriptsDir, 'spec-stand-in-runner.js'),
    'spec-stand-in-runner.js',
  );
  const ownAddon = reachable(addon, 'addon');
  const uid = process.getuid?.() === 0 ? takeSandboxUid(config.launchLimits.uidFirst).uid : 0;
  const started = new Map<string, ChildProcess>();

  const standIn = (user: 'root' | 'not root'): ChildProcess => {
    const known = started.get(user);
    if (known !== undefined) return known;
    const other = uid === 0 || user === 'root' ? {} : { uid, gid: uid };
    const child = fork(program, [], {
      ...other,
      cwd: '/',
      env: { RUNNER_SECRET: 'a secret of the runner', TMPDIR: folder },
      execPath: runtimeFiles(files, 'node20').node,
      execArgv: [],
    });
    started.set(user, child);
    return child;
  };

  return {
    folder,
    files,
    async run(user, { program: what, ...attack }) {
      const order: Order = {
        ...attack,
        ...{ files, folder, addon: ownAddon, limits: config.launchLimits },
        program: what === 'system calls' ? { syscalls } : what,
      };
      const child = standIn(user);
      child.send(order);
      const [said] = (await once(child, 'message')) as [{ answer?: Answer; fault?: string }];
      if (said.answer === undefined) throw new Error(said.fault);
      return said.answer;
    },
    async stop() {
      for (const child of started.values()) {
        const ended = once(child, 'exit');
        child.disconnect();
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
