import { heldBack } from './held-back.mjs';
import { verdictOn } from './figures.cjs';

/**
 * Makes a row of the result. A figure without a bound is for information.
 *
 * @param {string} goal
 * @param {string} what
 * @param {number | import('../types.js').Band} figure
 * @param {import('../types.js').Bound | undefined} bound
 * @param {string} unit
 * @returns {import('../types.js').Check}
 */
export function check(goal, what, figure, bound = undefined, unit = '') {
  const band = typeof figure === 'number' ? { median: figure } : figure;
  const { median, min = median, max = median } = band;
  const range = band.min === undefined ? '' : ` [${short(min)}..${short(max)}]`;
  const met = bound ? verdictOn(band, bound) : '–';
  return {
    goal,
    what,
    reached: `${short(median)}${range}${unit}`,
    wanted: bound ? `${bound[0]} ${bound[1]}${unit}` : '–',
    met,
    held: met.startsWith('no') ? (heldBack[goal] ?? 'not looked into') : '',
    figure: band,
  };
}

/**
 * @param {string} goal
 * @param {string} what
 * @param {string} why
 * @returns {import('../types.js').Check}
 */
export const notRun = (goal, what, why) => ({
  goal,
  what,
  reached: `not run: ${why}`,
  wanted: '–',
  met: '–',
  held: '',
});

/**
 * Turns a failed measurement into a void row: it does not affect the others.
 *
 * @param {string} goal
 * @param {string} what
 * @param {() => Promise<import('../types.js').Check[]>} measure
 */
export async function orVoid(goal, what, measure) {
  console.log(`\n${goal} ${what}`);
  try {
    return await measure();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return [notRun(goal, what, 'the run is void')];
  }
}

/** @param {number} value */
function short(value) {
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}
