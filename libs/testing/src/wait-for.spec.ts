import { waitFor } from './wait-for';

describe('waitFor', () => {
  it('returns what the condition returned as soon as it holds', async () => {
    let looks = 0;
    await expect(waitFor(() => (++looks >= 3 ? `look ${looks}` : ''))).resolves.toBe('look 3');
  });

  it('passes over errors until the time is out, then tells the last one', async () => {
    const failure = new Error('not yet');
    const waiting = waitFor(() => Promise.reject(failure), { timeoutMs: 30 });
    await expect(waiting).rejects.toMatchObject({
      message: 'the condition did not hold within 30 ms',
      cause: failure,
    });
  });
});
