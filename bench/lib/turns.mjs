import { bandOf, median, ratiosOf } from './figures.cjs';

/** Turns last a second. Fewer say little: V8 goes on optimising for many seconds. */
export const whole = { warmUpTurns: 10, rounds: 11 };
export const quick = { warmUpTurns: 2, rounds: 3 };

/**
 * Measures the target and one peer in turns, so that neither idles longer than the other's turn.
 *
 * @template Side
 * @param {{ target: Side, peer: Side }} sides
 * @param {import('../types.js').Timing} timing
 * @param {(side: Side) => Promise<import('../types.js').Figures>} turn
 * @returns {Promise<import('../types.js').Round[]>}
 */
export async function takeTurns({ target, peer }, { warmUpTurns, rounds }, turn) {
  const measured = [];
  for (let round = -warmUpTurns; round < rounds; round += 1) {
    const both = { target: await turn(target), peer: await turn(peer) };
    if (round >= 0) measured.push(both);
  }
  return measured;
}

/**
 * @param {readonly import('../types.js').Round[]} rounds
 * @param {string} [figure]
 * @returns {import('../types.js').Band}
 */
export const ratioOf = (rounds, figure = 'perCpuSecond') => bandOf(ratiosOf(rounds, figure));

/**
 * Prints the medians of both sides.
 *
 * @param {readonly import('../types.js').Round[]} rounds
 * @param {{ target: string, peer: string }} names
 */
export function tell(rounds, names) {
  /** @type {('target' | 'peer')[]} */
  const sides = ['target', 'peer'];
  const rows = sides.map((side) => {
    /** @param {string} figure */
    const of = (figure) => median(rounds.map((round) => round[side][figure] ?? NaN));
    return {
      name: names[side],
      'k / CPU s': (of('perCpuSecond') / 1000).toFixed(1),
      'per second': Math.round(of('perSecond')),
      ...(rounds[0]?.[side].p50 === undefined
        ? {}
        : {
            'p50 ms': of('p50').toFixed(2),
            'p99 ms': of('p99').toFixed(2),
            'RSS MiB': Math.round(of('rss')),
          }),
    };
  });
  console.table(rows);
}
