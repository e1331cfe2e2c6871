import { stopService } from './service';

it('readiness says no at once, and the app stops when balancers have had their time', async () => {
  const order: string[] = [];
  const stopping = new AbortController();
  stopping.signal.addEventListener('abort', () => order.push('not ready'));
  const stopped = stopService(
    { stopDelayMs: 50, stop: () => Promise.resolve(void order.push('stop')) },
    stopping,
  );
  expect(order).toEqual(['not ready']);
  setTimeout(() => order.push('still served'), 0);
  await stopped;
  expect(order).toEqual(['not ready', 'still served', 'stop']);
});
