import { createRunnerClient, type RunOutcome } from '@glovebox/sandbox';
import { plainRun, specSecret, startSpecRunner } from '../spec-runner';

const hooks = { onCall: () => Promise.reject(new Error('none')) };
const code = 'module.exports = () => ({})';

it('a runner that ends under load answers every run that was sent to it, or refuses it', async () => {
  const kinds = new Set<RunOutcome['kind']>();
  for (let round = 0; round < 5; round += 1) {
    const runner = await startSpecRunner({ RUNNER_RUNTIMES: 'node20' });
    const client = createRunnerClient({ urls: [runner.url], secret: specSecret });
    const caller = async (): Promise<void> => {
      for (let kind: RunOutcome['kind'] = 'returned'; kind === 'returned';) {
        ({ kind } = await client.run({ ...plainRun, code, codeHash: 'h' }, hooks));
        kinds.add(kind);
      }
    };
    const callers = Promise.all(Array.from({ length: 16 }, caller));
    await client.run({ ...plainRun, code, codeHash: 'h' }, hooks);
    await runner.stop();
    await callers;
    await client.close();
  }
  expect([...kinds].sort()).toEqual(['no_capacity', 'returned']);
});
