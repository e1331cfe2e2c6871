import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { run } from './program';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Is told what standard error has so far. */
  readonly hear?: (stderr: string) => void;
  /** Which of its outputs are terminals. */
  readonly terminals?: readonly ('stdout' | 'stderr')[];
}

/** Runs the command line in this process, as a shell would. */
export async function glovebox(args: readonly string[], started: Started = {}): Promise<Ended> {
  const { env = {}, cwd = '/', terminals = [], hear = () => undefined } = started;
  const written = { stdout: '', stderr: '' };
  const outputOf = (name: 'stdout' | 'stderr') => {
    const output = new Writable({
      write(chunk, _, done) {
        written[name] += String(chunk);
        hear(written.stderr);
        done();
      },
    });
    return Object.assign(output, { isTTY: terminals.includes(name) });
  };
  const own = {
    ...{ argv: ['node', 'glovebox', ...args], cwd: () => cwd, exitCode: 0 },
    ...{ stdout: outputOf('stdout'), stderr: outputOf('stderr') },
  };
  const system = Object.assign(new EventEmitter(), own);
  await run(system as unknown as NodeJS.Process, { HOME: '/nowhere', ...env });
  return { code: system.exitCode, ...written };
}
