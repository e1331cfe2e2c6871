import { createRequire } from 'node:module';
import { join } from 'node:path';
import { repoRoot } from '../repo.mjs';

/** @type {typeof import('@jest/test-sequencer')} */
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/**
 * The specs that take longest, the longest first. Begun late, one of them would keep one processor
 * busy alone at the end. Jest knows durations only where it has run before.
 */
export const longest = [
  'apps/runner/src/hostile/runs.spec.ts',
  'acceptance/bare-machine.spec.ts',
  'apps/runner/src/frames-that-kill.spec.ts',
  'acceptance/browser/screens.spec.ts',
  'apps/runner/src/neighbours.spec.ts',
  'libs/reactors/src/redacted-everywhere.spec.ts',
  'acceptance/started-again.spec.ts',
  'acceptance/browser/failures.spec.ts',
  'acceptance/doctor.spec.ts',
  'apps/runner/src/process/memory.spec.ts',
  'acceptance/restored-database.spec.ts',
  'apps/management-api/src/database/migrations.spec.ts',
  'acceptance/unread-bodies.spec.ts',
  'libs/definitions/src/lease-under-faults.spec.ts',
  'acceptance/managed-stores.spec.ts',
  'apps/runner/src/pool/pool.spec.ts',
  'acceptance/browser/api-page.spec.ts',
  'acceptance/earlier-folder.spec.ts',
  'tools/image-files.spec.mjs',
  'apps/management-api/src/rotation/rotate-keys.spec.ts',
  'apps/runner/src/serving/found-by-name.spec.ts',
  'apps/runner/src/runtimes/offered-runtimes.spec.ts',
  'acceptance/transforms/hostile-transforms.spec.ts',
  'apps/gateway/src/react/run-once.spec.ts',
  'apps/runner/src/logs.spec.ts',
  'acceptance/browser/shown.spec.ts',
  'acceptance/browser/own-console.spec.ts',
  'acceptance/limits/limits.spec.ts',
  'apps/worker/src/fair-queues.spec.ts',
  'apps/runner/src/network.spec.ts',
  'apps/gateway/src/capture/captures.spec.ts',
  'libs/sandbox/src/runner/runner-client.spec.ts',
  'apps/runner/src/pool/recycling.spec.ts',
  'apps/gateway/src/under-load.spec.ts',
  'apps/management-api/src/lists/large-lists.spec.ts',
  'apps/management-api/src/lists/unread-pages.spec.ts',
  'acceptance/mistakes/code.spec.ts',
  'apps/gateway/src/proxy/transforms/steps.spec.ts',
  'apps/runner/src/runs.spec.ts',
  'apps/runner/src/hostile/bombs.spec.ts',
  'acceptance/planted/planted-secrets.spec.ts',
  'acceptance/packages/packages.spec.ts',
  'acceptance/command-line/authors-loop.spec.ts',
  'acceptance/schema.spec.ts',
  'libs/definitions/src/many-followers.spec.ts',
  'libs/definitions/src/marker.spec.ts',
].map((file) => join(repoRoot, file));

/**
 * @template {{ path: string }} Test
 * @param {readonly Test[]} tests
 */
export function longestFirst(tests) {
  const first = longest.flatMap((file) => tests.filter(({ path }) => path === file));
  return [...first, ...tests.filter((test) => !first.includes(test))];
}

/** The order in which Jest begins the specs. */
export default class LongestFirst extends TestSequencer {
  /**
   * @override
   * @param {import('@jest/test-result').Test[]} tests
   */
  async sort(tests) {
    return longestFirst(await super.sort(tests));
  }
}
