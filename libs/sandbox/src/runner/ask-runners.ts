import { createRunnerClient } from './runner-client';

/** Says which runners answer and prove that they have the secret. */
export async function askRunners(urls: readonly string[], secret: string) {
  const asked = urls.map(async (url) => {
    let isDistrusted = false;
    const onDistrust = (): void => void (isDistrusted = true);
    const client = createRunnerClient({ urls: [url], secret, onDistrust });
    try {
      const isReady = await client.ready();
      return { url, state: isReady ? 'up' : isDistrusted ? 'has another secret' : 'down' };
    } finally {
      await client.close();
    }
  });
  const states = await Promise.all(asked);
  const says = states.map(({ url, state }) => `${url} ${state}`).join(', ');
  const isUp = states.some(({ state }) => state === 'up');
  const isAllUp = states.every(({ state }) => state === 'up');
  const remedy =
    'Start the runners, let this app reach their port, and give both sides the same RUNNER_SECRET';
  const condition = isAllUp ? 'ok' : isUp ? 'warning' : 'fault';
  return { condition, says, ...(isAllUp ? {} : { remedy }) } as const;
}
