// The arithmetic of the benches; CommonJS, so that its spec can load it.

/**
 * The processor time in nanoseconds in a `schedstat` of one thread.
 *
 * @param {string} schedstat
 */
exports.nanosecondsOf = (schedstat) => Number(/^\d+/.exec(schedstat)?.[0]);

/**
 * The ratio of each round, of two consecutive turns, so that both saw the same machine.
 *
 * @param {readonly import('../types.js').Round[]} rounds
 * @param {string} figure
 */
exports.ratiosOf = (rounds, figure) =>
  rounds.map(({ target, peer }) => (target[figure] ?? NaN) / (peer[figure] ?? NaN));

exports.median = median;
/** @param {readonly number[]} values */
function median(values) {
  const sorted = ascending(values);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? NaN) + (sorted[Math.floor(half)] ?? NaN)) / 2;
}

/**
 * @param {readonly number[]} values
 * @returns {import('../types.js').Band}
 */
exports.bandOf = (values) => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

/**
 * @param {readonly number[]} values
 * @param {number} share
 */
exports.percentile = (values, share) =>
  ascending(values)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

/**
 * Decides by the median, and says when the band crosses the bound.
 *
 * @param {import('../types.js').Band} band
 * @param {import('../types.js').Bound} wanted
 */
exports.verdictOn = (band, [relation, bound]) => {
  const { median: middle, min = middle, max = middle } = band;
  /** @param {number} value */
  const holds = (value) => (relation === '≥' ? value >= bound : value <= bound);
  if (holds(middle)) return holds(min) && holds(max) ? 'yes' : 'yes, not in every round';
  return holds(min) || holds(max) ? 'no, but in some rounds' : 'no';
};

/** @param {readonly number[]} values */
const ascending = (values) => [...values].sort((a, b) => a - b);
