// The arithmetic of the benches; CommonJS, so that its spec can load it.

/** The time on a processor, in nanoseconds, that a `schedstat` of the kernel tells of one thread. */
exports.nanosecondsOf = (schedstat) => Number(/^\d+/.exec(schedstat)[0]);

/** The ratio of each round: of two turns that follow each other, so that both saw the same machine. */
exports.ratiosOf = (rounds, figure) =>
  rounds.map(({ target, peer }) => target[figure] / peer[figure]);

exports.median = median;
function median(values) {
  const sorted = ascending(values);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

exports.bandOf = (values) => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

exports.percentile = (values, share) =>
  ascending(values)[Math.min(values.length - 1, Math.floor(values.length * share))];

/** The median decides; a band that reaches over the bound is said. */
exports.verdictOn = ({ median: middle, min = middle, max = middle }, [relation, bound]) => {
  const holds = (value) => (relation === '≥' ? value >= bound : value <= bound);
  if (holds(middle)) return holds(min) && holds(max) ? 'yes' : 'yes, not in every round';
  return holds(min) || holds(max) ? 'no, but in some rounds' : 'no';
};

const ascending = (values) => [...values].sort((a, b) => a - b);
