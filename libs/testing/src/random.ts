/** A whole number from 0 on, below the one that is given. */
export type Random = (below: number) => number;

/** Small and seeded (mulberry32): a failure can be run again by its seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const steps = 2 ** 32;

/** From 0 on, below 1. */
export function fractionsFrom(seed: number): () => number {
  const random = randomFrom(seed);
  return () => random(steps) / steps;
}
