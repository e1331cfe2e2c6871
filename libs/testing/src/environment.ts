/** Reads a variable by which tools/test.mjs describes the services that it started. */
export function fromTestRun(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(
    `${name} is not set: run specs that need Postgres or Redis through \`npm test -- PROJECT\``,
  );
}

/** The seed of random tests. TEST_SEED=n repeats the run that printed n. */
export function testSeed(): number {
  return Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1e9));
}

/**
 * The runtimes that specs run code on. Others may not be installed. node16 and node20 are always
 * among them: a test that needs no certain one uses node20.
 */
export const testRuntimes = (process.env.TEST_RUNTIMES ?? 'node16,node20').split(',');

/** A bubblewrap that works on this machine, or undefined where there are no user namespaces. */
export function testBubblewrap(): string | undefined {
  const path = fromTestRun('TEST_BWRAP');
  return path === 'none' ? undefined : path;
}
