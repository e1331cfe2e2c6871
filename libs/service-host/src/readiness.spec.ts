import { fastest } from '@glovebox/testing';
import { readiness, upOrDown } from './readiness';

const up = () => Promise.resolve('up');
const down = () => Promise.resolve('down');

it('a process is ready when each needed part is up, whatever the others are', async () => {
  expect(await readiness({ needed: { keys: up }, others: { redis: down } })).toEqual({
    ready: true,
    components: { keys: 'up', redis: 'down' },
  });
  expect(await readiness({ needed: { keys: up, redis: down } })).toEqual({
    ready: false,
    components: { keys: 'up', redis: 'down' },
  });
});

it('a needed part in any other state than up keeps the process from being ready', async () => {
  const loading = () => Promise.resolve('loading, version 3 of 5');
  expect(await readiness({ needed: { definitions: loading } })).toEqual({
    ready: false,
    components: { definitions: 'loading, version 3 of 5' },
  });
});

it('a check that resolves is up; one that says false, rejects or throws is down', async () => {
  expect(await upOrDown(() => Promise.resolve('PONG'))).toBe('up');
  expect(await upOrDown(() => Promise.resolve(false))).toBe('down');
  expect(await upOrDown(() => Promise.reject(new Error('refused')))).toBe('down');
  const throwing = () => {
    throw new Error('refused');
  };
  expect(await upOrDown(throwing)).toBe('down');
});

it('a check that never answers is down after a second', async () => {
  const answerMs = async (): Promise<number> => {
    const begun = performance.now();
    expect(await upOrDown(() => new Promise(() => undefined))).toBe('down');
    return performance.now() - begun;
  };
  expect(await fastest(2_000, answerMs)).toBeLessThan(2_000);
});
