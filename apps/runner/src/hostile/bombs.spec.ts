import { specLevels, specRuntimes } from '../spec-runner';
import { scriptOf } from './programs.cases';
import { prepareHostileRuns, type HostileRuns } from './spec-hostile-runs';

/**
 * Programs that take more than their share, each in a process of its own, with all of Node at hand.
 * They take a bounded amount, so that they can be seen to get it without the sandbox.
 */
const bombs: readonly (readonly [name: string, code: string])[] = [
  ['hold 600 MB of buffers', `hold(600, () => Buffer.alloc(1 << 20, 1))`],
  [
    'hold 600 MB of WebAssembly',
    `hold(60, () => new Uint8Array(new WebAssembly.Memory({ initial: 160 }).buffer).fill(1))`,
  ],
  ['hold 100 open files', `hold(100, () => fs.openSync(t.readable))`],
  ['start 60 Workers', `workers(60)`],
  ['start 20 processes', `hold(20, () => start(t.node, '--version'))`],
  ['write a file of 1 MB', `fs.writeFileSync(t.folder + '/bomb', Buffer.alloc(1 << 20))`],
];

const helpers = `
  const held = [];
  const hold = (count, one) => { for (let n = 0; n < count; n += 1) held.push(one()) };
  const workers = (count) => Promise.all(Array.from({ length: count }, () => new Promise((resolve, reject) => {
    const { Worker } = require('worker_threads');
    const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
    worker.once('online', resolve).once('error', reject).once('exit', reject);
  })));`;

let runs: HostileRuns;
beforeAll(() => {
  runs = prepareHostileRuns();
});
afterAll(() => runs.stop());

describe.each(specRuntimes)('a program on %s that tries to', (runtime) => {
  it.each(bombs)('%s succeeds without the sandbox, and fails in it', async (name, code) => {
    const script = helpers + scriptOf([{ name, code }], 40_000);
    const outcomes = [];
    for (const level of [0, ...specLevels] as const) {
      const answer = await runs.run('not root', { level, runtime, program: { script } });
      // Node either throws an error that code can catch, or crashes.
      outcomes.push([level, answer.said.includes('"succeeds"') ? 'succeeds' : 'fails']);
    }
    expect(outcomes).toEqual([[0, 'succeeds'], ...specLevels.map((level) => [level, 'fails'])]);
  });
});
