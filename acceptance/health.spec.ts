import { call, runningProduct } from './product';

const product = runningProduct();

async function readyWhen(expected: Record<string, unknown>): Promise<Record<string, unknown>> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const { status, body } = await call('GET', `${product.baseUrl}/health/ready`);
    const seen = { status, ...(body.components as Record<string, unknown>) };
    const fits = Object.entries(expected).every(
      ([name, value]) => (seen as Record<string, unknown>)[name] === value,
    );
    if (fits) return body;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it('the gateway reports that it is alive', async () => {
  const answer = await call('GET', `${product.baseUrl}/health/live`);
  expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }]);
});

it('readiness reports all four apps and both stores as up', async () => {
  const body = await readyWhen({ status: 200 });
  expect(body).toEqual({
    status: 'ok',
    components: {
      gateway: 'up',
      'management-api': 'up',
      worker: 'up',
      runner: 'up',
      postgres: 'up',
      redis: 'up',
    },
  });
});

// A stopped process answers no more than a killed one, and can go on for the next test.
it.each(['management-api', 'worker', 'runner'])(
  'an app that is gone is reported as down: %s',
  async (app) => {
    const pid = product.pids[app];
    if (pid === undefined) throw new Error(`no process id of ${app}`);
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await readyWhen({ status: 503, [app]: 'down' })).toMatchObject({ status: 'degraded' });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await readyWhen({ status: 200 });
  },
);
