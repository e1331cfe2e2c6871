import { waitFor } from './wait-for';

describe('waitFor', () => {
  it('returns the result of the condition as soon as it holds', async () => {
    let looks = 0;
    await expect(waitFor(() => (++looks >= 3 ? `look ${looks}` : ''))).resolves.toBe('look 3');
  });

  it('ignores errors until the time is over, then names the last one', async () => {
    const failure = new Error('not yet');
    const waiting = waitFor(() => Promise.reject(failure), { timeoutMs: 30 });
    await expect(waiting).rejects.toMatchObject({
      message: 'the condition did not hold within 30 ms',
      cause: failure,
    });
  });

  it('waits longer where the process is held up, for as long as it was', async () => {
    const holdUp = setInterval(() => {
      const until = performance.now() + 60;
      while (performance.now() < until);
    }, 1);
    let looks = 0;
    await waitFor(() => (looks += 1) === 5, { timeoutMs: 100 }).finally(() =>
      clearInterval(holdUp),
    );
    expect(looks).toBe(5);
  });
});
