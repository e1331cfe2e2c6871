/** Returns a whole number from 0 to below the given one. */
export type Random = (below: number) => number;

/** A small seeded generator (mulberry32): its seed repeats a failed run. */
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

/** Returns a number from 0 to below 1. */
export function fractionsFrom(seed: number): () => number {
  const random = randomFrom(seed);
  return () => random(steps) / steps;
}
