import { setTimeout as delay } from 'node:timers/promises';
import { bandOf, percentile } from '../lib/figures.cjs';
import { startRunner } from './sandboxes.mjs';
import { compare } from './timing.mjs';

const runs = 200;
const pauseMs = 5;
const spinnerRounds = 5;

const spinning = 'for (;;);';
const flood = "for (;;) await svc.tokenize('x'.repeat(2e7)).catch(() => 0);";

/**
 * One tenant's warm runs, one every few milliseconds, while runs of another tenant do their worst in
 * the same runner (S11, S12).
 *
 * @param {Pick<import('../types.js').SandboxSetting, 'parts' | 'row' | 'timing' | 'details'>} setting
 */
export async function measureNeighbours({ parts, row, timing, details }) {
  const runner = await startRunner(parts, parts.env['RUNNER_LISTEN'] ?? '');
  const beside = async (/** @type {number} */ count, /** @type {string} */ act) => {
    const attack = await startAttack(runner, count, act);
    const measured = await slowest(runner);
    await attack.end();
    return measured;
  };
  try {
    await slowest(runner);
    const title = 'warm, p99: beside 8 floods of svc with 20 MB each / alone';
    const sides = { target: () => beside(8, flood), peer: () => slowest(runner) };
    const options = { timing: { ...timing, warmUpTurns: 1 }, details, figure: 'p99' };
    row('S11', title, await compare(title, sides, options), ['≤', 2]);

    const spun = [];
    for (let i = 0; i < spinnerRounds; i += 1) spun.push((await beside(4, spinning)).p99);
    const spunTitle = 'warm, p99 beside four runs that spin';
    details[spunTitle] = spun;
    console.log(`${spunTitle}: ${spun.map((ms) => ms.toFixed(1)).join(', ')} ms`);
    row('S12', spunTitle, bandOf(spun), ['≤', 10], ' ms');
  } finally {
    await runner.end();
  }
}

/** @param {Awaited<ReturnType<typeof startRunner>>} runner */
async function slowest(runner) {
  const times = [];
  for (let i = 0; i < runs; i += 1) {
    const startedAt = performance.now();
    await runner.run({ tenantId: 'victim', args: { number: i } });
    times.push(performance.now() - startedAt);
    await delay(pauseMs);
  }
  return { p99: percentile(times, 0.99) };
}

/**
 * Resolves when the code of every run of the attack runs.
 *
 * @param {Awaited<ReturnType<typeof startRunner>>} runner
 * @param {number} count
 * @param {string} act
 */
async function startAttack(runner, count, act) {
  const stop = new AbortController();
  const attacks = Array.from({ length: count }, (_, n) =>
    runner.attack(
      `module.exports = async ({ svc }) => { console.log('on'); await null; ${act} } // ${n}`,
      stop.signal,
    ),
  );
  await Promise.all(attacks.map(({ begun }) => begun));
  return {
    async end() {
      stop.abort();
      await Promise.all(attacks.map(({ ended }) => ended));
    },
  };
}
