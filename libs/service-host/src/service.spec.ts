import { stopService } from './service';

it('a stopping process is not ready at once, and stops after the delay for balancers', async () => {
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
