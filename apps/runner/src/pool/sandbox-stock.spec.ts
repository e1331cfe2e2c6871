import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@glovebox/testing';
import { silent, specConfig, startSpecRunner, type SpecRunner } from '../spec-runner';
import { SandboxProcess } from '../process/sandbox-process';
import { SandboxStock, type StockLimits } from './sandbox-stock';

/** Two, so that the time between tries is known. */
const runtimes = ['node16', 'node20'] as const;
const folder = mkdtempSync(join(tmpdir(), 'glovebox-stock-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const unused = (): Promise<never> => Promise.reject(new Error('no code runs here'));
const modules = { errors: [], bundles: {} };
const wayOut = { dial: unused, lookUp: unused, note: () => undefined };

const sandboxOf = (command: string): SandboxProcess =>
  new SandboxProcess(spawn(command, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] }), {
    wayOut,
    modules,
    memory: { runtime: 'node20', megabytes: 384 },
  });

describe('a stock whose sandboxes do not start', () => {
  const stopping = new AbortController();
  afterAll(() => stopping.abort());

  it.each<[string, () => SandboxProcess]>([
    ['is missing', () => sandboxOf(join(folder, 'missing'))],
    ['ends at once', () => sandboxOf('/bin/false')],
    [
      'cannot be launched',
      () => {
        throw new Error('no open file is left');
      },
    ],
  ])('tries one at a time, more and more seldom, when the program %s', async (_, launch) => {
    const tries: { readonly at: number; readonly alive: number }[] = [];
    const reasons: unknown[] = [];
    let alive = 0;
    const counted = (): SandboxProcess => {
      tries.push({ at: performance.now(), alive });
      const process = launch();
      alive += 1;
      void process.exited.then(() => (alive -= 1));
      return process;
    };
    const limits: StockLimits = {
      ...{ processesMax: 8, startsMax: 4, warmPerRuntime: 2 },
      ...{ firstRuntime: 'node20', idleTtlMs: 60_000 },
    };
    const logger = { ...silent, error: (what: object) => void reasons.push(what) };
    const stock = new SandboxStock(counted, limits, logger, stopping.signal);
    await expect(stock.warmUp()).rejects.toThrow();
    for (const runtime of runtimes) {
      await waitFor(async () => {
        const taken = stock.take('tenant', runtime, new AbortController().signal);
        return /at present/.test(await taken.then(() => 'a sandbox', String));
      });
    }
    const begun = tries.length;
    await waitFor(() => tries.length >= begun + 6 && stock.size === 0);
    const later = tries.slice(begun);
    expect(later.map((one) => one.alive)).toEqual(later.map(() => 0));
    const gaps = [2, 4].map((nth) => (later[nth]?.at ?? 0) - (later[nth - 1]?.at ?? 0));
    expect(gaps[0]).toBeGreaterThan(450);
    expect(gaps[1]).toBeGreaterThan(950);
    expect([stock.isWorking, stock.size, reasons.length]).toEqual([false, 0, 1]);
  });
});

describe('a runner whose sandboxes do not start any more', () => {
  const helper = join(folder, `sandbox-exec-${process.arch}`);
  const started = join(folder, 'started');
  const replaceBy = (text: string | Buffer): void => {
    writeFileSync(`${helper}.next`, text, { mode: 0o755 });
    renameSync(`${helper}.next`, helper);
  };
  const errors: object[] = [];
  let runner: SpecRunner;

  beforeAll(async () => {
    const { nativeDir } = specConfig(folder);
    copyFileSync(join(nativeDir, `sandbox-exec-${process.arch}`), helper);
    const logger = { ...silent, error: (what: object) => void errors.push(what) };
    runner = await startSpecRunner({ RUNNER_NATIVE_DIR: folder }, undefined, logger);
  });
  afterAll(() => runner.stop());

  const run = (codeHash: string) => runner.run('module.exports = () => ({})', { codeHash });

  it('is not ready, refuses runs without starting anything, and says why once', async () => {
    const working = readFileSync(helper);
    expect(await run('first')).toMatchObject({ kind: 'returned' });
    await waitFor(() => runner.ctx.pool.counts.generic === 2);
    replaceBy(`#!/bin/sh\necho >> ${started}\nexit 3\n`);
    expect(await run('kept')).toMatchObject({ kind: 'returned' });
    await waitFor(async () => !(await runner.client.ready()));
    const tries = (): number => (existsSync(started) ? readFileSync(started).length : 0);
    const before = tries();
    for (let nth = 0; nth < 20; nth += 1) {
      expect(await run(`new ${nth}`)).toEqual({ kind: 'no_capacity' });
    }
    expect(tries() - before).toBeLessThanOrEqual(2);
    expect(await run('kept')).toMatchObject({ kind: 'returned' });
    expect(errors).toEqual([{ reason: 'the sandbox ended: exit 3', before: 0 }]);
    replaceBy(working);
    await waitFor(() => runner.client.ready());
    expect(await run('new')).toMatchObject({ kind: 'returned' });
  });
});

it('a runtime is kept warm from its first order, and until nobody has ordered it for long', async () => {
  const runner = await startSpecRunner({ SANDBOX_IDLE_TTL_MS: '4000' });
  const { pool } = runner.ctx;
  const order = () => runner.run('module.exports = () => ({})', { runtime: 'node20' });
  try {
    expect(pool.counts.generic).toBe(1);
    expect(await order()).toMatchObject({ kind: 'returned' });
    await waitFor(() => pool.counts.generic === 2);
    await waitFor(async () => {
      expect(await order()).toMatchObject({ kind: 'returned' });
      return pool.counts.generic === 1;
    });
    await waitFor(() => pool.counts.generic === 0 && pool.counts.loaded === 0);
    await waitFor(() => pool.memory.privateBytes === 0);
    expect(await order()).toMatchObject({ kind: 'returned' });
    await waitFor(() => pool.counts.generic === 1);
  } finally {
    await runner.stop();
  }
});
