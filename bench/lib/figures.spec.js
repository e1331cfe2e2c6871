const { readFileSync } = require('node:fs');
const { bandOf, median, nanosecondsOf, percentile, ratiosOf, verdictOn } = require('./figures.cjs');

const rounds = [
  { target: { perCpuSecond: 300 }, peer: { perCpuSecond: 100 } },
  { target: { perCpuSecond: 20 }, peer: { perCpuSecond: 20 } },
  { target: { perCpuSecond: 200 }, peer: { perCpuSecond: 100 } },
];

describe('the arithmetic of the benches', () => {
  it('takes the ratio of each round from its own two turns, not from the sums', () => {
    expect(ratiosOf(rounds, 'perCpuSecond')).toEqual([3, 1, 2]);
    expect(bandOf(ratiosOf(rounds, 'perCpuSecond'))).toEqual({ median: 2, min: 1, max: 3 });
  });

  it('takes the median of an odd count, of an even count and of one, by size and not by letter', () => {
    expect(median([100, 9, 8])).toBe(9);
    expect(median([100, 9, 20, 30])).toBe(25);
    expect(median([7])).toBe(7);
  });

  it('takes a percentile from the measured values', () => {
    const values = Array.from({ length: 100 }, (_, at) => 100 - at);
    expect(percentile(values, 0.5)).toBe(51);
    expect(percentile(values, 0.99)).toBe(100);
    expect(percentile([3], 0.99)).toBe(3);
  });

  it('reads the time on a processor, not the time in the queue, out of schedstat', () => {
    expect(nanosecondsOf('54360359 86148012 145\n')).toBe(54_360_359);
  });

  it('sees the processor time of this process grow by what it uses', () => {
    const used = () => nanosecondsOf(readFileSync('/proc/thread-self/schedstat', 'utf8'));
    const [before, startedAt] = [used(), performance.now()];
    // The kernel adds it up when a thread is switched, not when it is asked.
    while (used() - before < 50e6 && performance.now() < startedAt + 10_000);
    expect(used() - before).toBeGreaterThanOrEqual(50e6);
  });

  it('decides by the median, and says when the band crosses the bound', () => {
    const band = { median: 1.7, min: 1.5, max: 1.9 };
    expect(verdictOn(band, ['≥', 1.5])).toBe('yes');
    expect(verdictOn(band, ['≥', 1.6])).toBe('yes, not in every round');
    expect(verdictOn(band, ['≥', 1.8])).toBe('no, but in some rounds');
    expect(verdictOn(band, ['≥', 2])).toBe('no');
    expect(verdictOn(band, ['≤', 1.6])).toBe('no, but in some rounds');
    expect(verdictOn({ median: 12 }, ['≤', 12])).toBe('yes');
  });
});
