import { startOpsServer } from './ops-server';

it('a process that lives but is not ready is reported so', async () => {
  let ready = false;
  const serving = { listening: false };
  const stopping = new AbortController();
  const server = await startOpsServer({
    host: '127.0.0.1',
    port: 0,
    ready: () => Promise.resolve({ ready, components: { redis: ready ? 'up' : 'down' } }),
    metrics: () => Promise.resolve('figures 1\n'),
    isServing: () => serving.listening,
    stopping: stopping.signal,
  });
  const get = async (path: string): Promise<[number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return [answer.status, await answer.text()];
  };
  try {
    expect(await get('/health/live')).toEqual([200, '{"status":"ok"}']);
    expect(await get('/health/ready')).toEqual([
      503,
      '{"status":"unavailable","components":{"redis":"down"}}',
    ]);
    ready = true;
    expect((await get('/health/ready'))[0]).toBe(503);
    serving.listening = true;
    expect((await get('/health/ready'))[0]).toBe(200);
    expect(await get('/metrics')).toEqual([200, 'figures 1\n']);
    expect((await get('/secrets'))[0]).toBe(404);
    stopping.abort();
    expect(await get('/health/ready')).toEqual([503, '{"status":"stopping","components":{}}']);
    expect((await get('/health/live'))[0]).toBe(200);
  } finally {
    await server.close();
  }
});
