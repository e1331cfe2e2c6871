import { invalid, Problem, problemCatalogue, toProblem } from './index';

describe('a problem', () => {
  it('carries the status and the title of the catalogue', () => {
    expect(new Problem('not_found').body()).toEqual({
      title: 'Not found.',
      status: 404,
      code: 'not_found',
    });
  });

  it('names each wrong member', () => {
    expect(invalid({ name: ['must be at most 200 characters'] }).body()).toMatchObject({
      status: 400,
      code: 'validation_failed',
      errors: { name: ['must be at most 200 characters'] },
    });
  });

  it('says nothing of an unforeseen error', () => {
    const problem = toProblem(new Error('password authentication failed for 4111111111111111'));
    expect(problem.code).toBe('internal_error');
    expect(JSON.stringify(problem.body())).not.toContain('4111');
  });

  it('has an HTTP error status for every code', () => {
    for (const { status } of Object.values(problemCatalogue)) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
    }
  });

  it('tells where a call failed, and why, only where it is asked to', () => {
    const failure = { phase: 'tls', reason: 'the certificate is self-signed', port: 443 } as const;
    const problem = new Problem('destination_unreachable', { failure });
    expect(problem.body({ withCause: true }).cause).toEqual(failure);
    expect(problem.body()).not.toHaveProperty('cause');
  });
});
