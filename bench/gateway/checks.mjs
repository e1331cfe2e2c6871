/** One line of the result: what was reached of a goal. No bound: a figure to know, not to reach. */
export function check(goal, what, figure, bound = undefined, unit = '') {
  const { median, min, max } = typeof figure === 'number' ? { median: figure } : figure;
  const range = min === undefined ? '' : ` [${short(min)}..${short(max)}]`;
  return {
    goal,
    what,
    reached: `${short(median)}${range}${unit}`,
    wanted: bound ? `${bound[0]} ${bound[1]}${unit}` : '–',
    met: bound ? (holds(median, bound) ? 'yes' : 'no') : '–',
    figure: { median, min, max },
  };
}

export const notRun = (goal, what, why) => ({
  goal,
  what,
  reached: `not run: ${why}`,
  wanted: '–',
  met: '–',
});

const holds = (value, [relation, bound]) => (relation === '≥' ? value >= bound : value <= bound);

function short(value) {
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export async function until(holdsNow, { withinMs = 30_000, what }) {
  const deadline = performance.now() + withinMs;
  while (!(await holdsNow())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
