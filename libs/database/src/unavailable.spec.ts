import { Problem } from '@glovebox/problems';
import { asUnavailable, refusesConnections } from './unavailable';

const error = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

it.each([
  error('connect', 'ECONNREFUSED'),
  error('shutting down', '57P01'),
  error('too many clients', '53300'),
  error('statement timeout', '57014'),
  error('Connection terminated unexpectedly'),
  error('timeout exceeded when trying to connect'),
  error('Query read timeout'),
  Object.assign(error('wrapped'), { driverError: error('shutting down', '57P01') }),
])('a Postgres that is away is a 503: %s', (fault) => {
  expect(asUnavailable(fault)).toMatchObject({ code: 'service_unavailable', status: 503 });
});

it('every error that does not say that Postgres is away stays as it is', () => {
  for (const other of [error('syntax', '42601'), error('duplicate', '23505'), 'text', undefined]) {
    expect(asUnavailable(other)).toBe(other);
  }
  const problem = new Problem('not_found');
  expect(asUnavailable(problem)).toBe(problem);
});

it('a Postgres refuses connections only where it says so: silence does not count', () => {
  const refused = error('connect', 'ECONNREFUSED');
  for (const fault of [
    refused,
    error('starting up', '57P03'),
    error('no name', 'ENOTFOUND'),
    asUnavailable(refused),
  ]) {
    expect(refusesConnections(fault)).toBe(true);
  }
  const silent = error('connect', 'ETIMEDOUT');
  for (const fault of [
    silent,
    error('no name server', 'EAI_AGAIN'),
    error('timeout exceeded when trying to connect'),
    undefined,
  ]) {
    expect(refusesConnections(asUnavailable(fault))).toBe(false);
  }
  expect(refusesConnections(new AggregateError([refused, refused]))).toBe(true);
  expect(refusesConnections(new AggregateError([refused, silent]))).toBe(false);
});
