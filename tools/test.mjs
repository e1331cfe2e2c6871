// npm test: every check of the repository on services that live as long as the run.
import { requireNode, script, seconds, Trouble } from './lib/progress.mjs';
import { jestProjects } from './lib/test-run/jest-run.mjs';
import { pictures, TestRun } from './lib/test-run/test-run.mjs';

const help = `
npm test                      format, lint, types, build, every Jest project, acceptance
npm test -- PROJECT …         build and the tests of these projects alone (e.g. gateway, seal, acceptance);
                              arguments that begin with - go to Jest: npm test -- vault -t=masks
npm run test:faults           **/*.faults.ts: what happens when processes and stores die
npm run test:soak             **/*.soak.ts: long runs
npm run test:clients          **/*.clients.ts: what needs a program that no bare machine has, such as Prometheus
npm run test:skew             **/*.skew.ts: the newest release and this one at work together
node tools/test.mjs nodes     **/*.nodes.ts: what needs the npm registry, a part of npm run test:nodes
npm run console:screenshots   **/*.screenshots.ts: the pictures of docs/console

Postgres and Redis are started for the run and thrown away (DATABASE_URL and REDIS_URL win).
The last line is "N passed, N failed"; the exit code is 0 only when nothing failed.`;

/**
 * Each of their files has the machine and the product to itself.
 *
 * @type {Record<string, { testMatch: string, minutes: number }>}
 */
const kinds = {
  faults: { testMatch: '**/*.faults.ts', minutes: 45 },
  soak: { testMatch: '**/*.soak.ts', minutes: 240 },
  clients: { testMatch: '**/*.clients.ts', minutes: 20 },
  skew: { testMatch: '**/*.skew.ts', minutes: 20 },
  nodes: { testMatch: '**/*.nodes.ts', minutes: 20 },
  screenshots: { testMatch: pictures, minutes: 10 },
};

await script(help, async (args) => {
  requireNode();
  const begun = performance.now();
  const kind = kinds[args[0] ?? ''];
  const rest = kind ? args.slice(1) : args;
  const jestArgs = rest.filter((arg) => arg.startsWith('-') && arg !== '--');
  const names = rest.filter((arg) => !arg.startsWith('-'));
  const testRun = new TestRun({
    testMatch: kind?.testMatch,
    minutes: kind?.minutes ?? 50,
    jestArgs,
    // Specs wait for a third of their time: three keep two processors busy.
    workers: kind ? 1 : 3,
  });
  process.once('SIGINT', () => void finish('interrupted'));
  process.once('SIGTERM', () => void finish('interrupted or out of time'));

  let finishing = false;
  /** @param {string} [interruption] */
  const finish = async (interruption) => {
    // After an interruption the step that was cut short also comes here; the first call ends the
    // run.
    if (finishing) return;
    finishing = true;
    if (interruption) testRun.fail(new Trouble(`The run was ${interruption}.`));
    await testRun.end();
    console.log(`\nTook ${seconds(begun)}`);
    console.log(`${testRun.passed} passed, ${testRun.failed} failed`);
    process.exit(testRun.failed === 0 ? 0 : 1);
  };

  try {
    if (kind || names.length > 0) await testRun.some(foldersOf(names));
    else await testRun.everything();
  } catch (error) {
    if (!finishing) testRun.fail(error);
  }
  await finish();
});

/** @param {readonly string[]} names */
function foldersOf(names) {
  const projects = jestProjects();
  const unknown = names.find((name) => !projects.some((project) => project.name === name));
  if (unknown) {
    const known = projects.map(({ name }) => name).join(', ');
    throw new Trouble(`There is no project "${unknown}". Known: ${known}`);
  }
  const chosen = projects.filter(({ name }) => names.length === 0 || names.includes(name));
  return chosen.map(({ folder }) => folder);
}
