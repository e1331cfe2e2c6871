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
});
