/**
 * @param {() => boolean | Promise<boolean>} holdsNow
 * @param {{ withinMs?: number, what: string }} options
 */
export async function until(holdsNow, { withinMs = 30_000, what }) {
  const deadline = performance.now() + withinMs;
  while (!(await holdsNow())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
