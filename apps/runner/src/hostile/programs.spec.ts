import { spawnSync } from 'node:child_process';

import { testBubblewrap } from '@glovebox/testing';
import { specRuntimes } from '../spec-runner';
import { prepareHostileRuns, type Attack, type HostileRuns } from './spec-hostile-runs';
import { programs, scriptOf, type Program } from './programs.cases';
import type { Answer } from './spec-stand-in-runner';
import { parseReport, systemCalls } from './system-calls.cases';

/**
 * Each hostile program is seen to succeed without the sandbox and to fail in it, with all of Node at
 * hand, because the gate of `require` is no protection.
 *
 * The runner of a pod is not root: the runner, its sandboxes and the hostile program are one user
 * there, and only the sandbox stands between them. Under root each sandbox is a user of its own.
 */
type Outcomes = Readonly<Record<string, string>>;
type Machine = { readonly runner: 'root' | 'not root' } & Pick<Attack, 'level' | 'landlockAbi'>;

const runs: HostileRuns = prepareHostileRuns();
const isRoot = process.getuid?.() === 0;

/** Older kernels have less of Landlock. 0: all that this kernel has. */
const landlockAbis = Array.from({ length: 6 }, (_, n) => n + 1).filter(
  (abi) => !/above/.test(helperSays('--landlock-abi', String(abi))),
);
const machinesOf = (runner: Machine['runner'], abis: readonly number[]): Machine[] => [
  { runner, level: 0 },
  { runner, level: 2 },
  ...abis.map((landlockAbi): Machine => ({ runner, level: 2, landlockAbi })),
  { runner, level: 3 },
];
const machines: readonly Machine[] = [
  ...machinesOf('not root', landlockAbis),
  ...(isRoot ? machinesOf('root', []) : []),
];

function helperSays(...options: string[]): string {
  const parameters = [...options, ...(isRoot ? ['--uid', '65534'] : []), '--', '/not/there'];
  return spawnSync(runs.files.helper, parameters, { encoding: 'utf8' }).stderr;
}

afterAll(() => runs.stop());

it('level 3 is tested, and so are older versions of Landlock', () => {
  expect(testBubblewrap()).toBeDefined();
  expect(landlockAbis).toContain(1);
});

const untouched = {
  ...{ empty: '', from: 'from', gone: 'gone', lent: 'lent', link: 'victim' },
  ...{ private: 'private', victim: 'victim' },
};

describe.each([...specRuntimes, 'system calls'] as const)(
  'without and in the sandbox, %s',
  (what) => {
    const tried: readonly Omit<Program, 'code'>[] =
      what === 'system calls'
        ? systemCalls
        : programs.filter(({ runtime }) => runtime === undefined || runtime === what);
    const seen = new Map<Machine, Outcomes>();
    const left = new Map<Machine, Answer['left']>();

    beforeAll(async () => {
      for (const machine of machines) {
        const { runner, ...attack } = machine;
        const answer = await runs.run(runner, {
          ...attack,
          runtime: what === 'system calls' ? 'node20' : what,
          program: what === 'system calls' ? what : { script: scriptOf(programsOf(what)) },
        });
        seen.set(machine, outcomesOf(answer));
        left.set(machine, answer.left);
      }
    }, 300_000);

    const outcomesOf = ({ said }: Answer): Outcomes =>
      what === 'system calls' ? parseReport(said) : (JSON.parse(said) as Outcomes);

    it('the files are as they were behind a sandbox, and not without it', () => {
      for (const machine of machines) {
        const found = expect(left.get(machine));
        if (machine.level > 0) found.toEqual(untouched);
        else found.not.toEqual(untouched);
      }
    });

    it('no program is left out', () => {
      const names = tried.map(({ name }) => name).sort();
      for (const outcomes of seen.values()) expect(Object.keys(outcomes).sort()).toEqual(names);
    });

    it.each(tried.map((program): [string, Omit<Program, 'code'>] => [program.name, program]))(
      '%s',
      (name, program) => {
        const outcomes = machines.map((machine) => [machine, seen.get(machine)?.[name]]);
        expect(outcomes).toEqual(machines.map((machine) => [machine, expected(program, machine)]));
      },
    );
  },
);

function programsOf(runtime: string): Program[] {
  return programs.filter((program) => (program.runtime ?? runtime) === runtime);
}

function expected(program: Omit<Program, 'code'>, { runner, level }: Machine): unknown {
  if (level === 0) {
    if (program.sameUser && runner === 'root') return 'fails';
    if (program.kernelMayRefuse) return expect.stringMatching(/^(succeeds|fails)$/);
    return 'succeeds';
  }
  return program.remainsAtLevel2 && level === 2 ? 'succeeds' : 'fails';
}
