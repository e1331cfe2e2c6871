import { startRunner, waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

const hanging = 'module.exports = () => new Promise(() => {})';

let runner: Awaited<ReturnType<typeof startRunner>>;
let gateway: SpecGateway;
let key: string;

beforeAll(async () => {
  runner = await startRunner({ env: { SANDBOX_PROCESSES: '1', SANDBOX_QUEUE_WAIT_MS: '200' } });
  gateway = await startSpecGateway({
    RUNNER_URLS: runner.url,
    RUNNER_SECRET: runner.secret,
    REACTOR_SYNC_TIMEOUT_MS: '3000',
  });
  key = await gateway.application(['token:use']);
});

afterAll(async () => {
  await gateway.close();
  await runner.stop();
});

async function react(reactorId: string) {
  const answer = await fetch(`${gateway.url}/reactors/${reactorId}/react`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
    body: '{"args":{}}',
  });
  const { code } = (await answer.json()) as { code?: string };
  return { status: answer.status, code, retryAfter: answer.headers.get('retry-after') };
}

it('a run that finds no sandbox gets 503 no_capacity and Retry-After, one whose code is too slow 504', async () => {
  const reactors = await Promise.all([0, 1].map(() => gateway.reactor([], hanging)));
  const [slow = '', other = ''] = reactors;
  const slowAnswer = react(slow);
  let isOver = false;
  void slowAnswer.finally(() => (isOver = true));
  const full = await waitFor(async () => {
    const answer = await react(other);
    return answer.code === 'no_capacity' && answer;
  });
  expect(isOver).toBe(false);
  expect(full).toEqual({ status: 503, code: 'no_capacity', retryAfter: '1' });
  expect(await slowAnswer).toMatchObject({ status: 504, code: 'reactor_timeout' });
});
