import { median } from '../lib/figures.cjs';
import { ratioOf, takeTurns } from '../lib/turns.mjs';

/** Short turns: both sides are warm after a few of them, and there are many pairs. */
const turnMs = 200;

/** @typedef {() => Promise<unknown>} Call */

/**
 * One call after the other, for one turn: the median of their times in milliseconds.
 *
 * @param {Call} call
 */
export async function callSerially(call) {
  /** @type {number[]} */
  const times = [];
  const endsAt = performance.now() + turnMs;
  for (let at = performance.now(); at < endsAt;) {
    await call();
    const now = performance.now();
    times.push(now - at);
    at = now;
  }
  return { p50: median(times) };
}

/**
 * Calls under way at the same time, for one turn: how many ended in a second.
 *
 * @param {Call} call
 * @param {number} callers
 */
export async function callAtOnce(call, callers) {
  const begunAt = performance.now();
  let calls = 0;
  const caller = async () => {
    while (performance.now() - begunAt < turnMs) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { perSecond: (calls * 1_000) / (performance.now() - begunAt) };
}

/**
 * The median of some measurements that follow each other.
 *
 * @param {number} count
 * @param {() => Promise<number>} measure
 */
export async function medianOf(count, measure) {
  const times = [];
  for (let i = 0; i < count; i += 1) times.push(await measure());
  return { p50: median(times) };
}

/**
 * Measures both sides in turns, prints both medians, and returns the ratio of the figure.
 *
 * @param {string} what
 * @param {{ target: () => Promise<import('../types.js').Figures>, peer: () => Promise<import('../types.js').Figures> }} sides
 * @param {{ timing: import('../types.js').Timing, figure?: string, details: Record<string, unknown> }} options
 */
export async function compare(what, sides, { timing, figure = 'p50', details }) {
  const rounds = await takeTurns(sides, timing, (side) => side());
  details[what] = rounds;
  /** @param {'target' | 'peer'} side */
  const middle = (side) => median(rounds.map((round) => round[side][figure] ?? NaN)).toFixed(3);
  console.log(`${what}: ${middle('target')} against ${middle('peer')} (${figure})`);
  return ratioOf(rounds, figure);
}
