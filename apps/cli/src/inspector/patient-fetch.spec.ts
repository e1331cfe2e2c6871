import { Glovebox, errors } from '@glovebox/client';
import { startDestination, type Destination } from '@glovebox/testing';
import { patientFetch } from './patient-fetch';

let api: Destination;
let answer: { status: number; body: object } | undefined;
beforeAll(async () => {
  api = await startDestination((_, response) => {
    if (!answer) return;
    response.writeHead(answer.status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  });
});
afterAll(() => api.close());

const post = (signal: AbortSignal) =>
  new Glovebox({ url: api.url, key: 'key_of_the_author', signal, fetch: patientFetch }).post(
    '/reactors/dry-runs',
    { body: { reactor: {} }, retries: 0 },
  );

it('calls, answers and errors are those of fetch', async () => {
  const { signal } = new AbortController();
  answer = { status: 200, body: { status: 'completed' } };
  expect(await post(signal)).toEqual(answer.body);
  expect(api.requests[0]).toMatchObject({ method: 'POST', url: '/reactors/dry-runs' });
  expect(api.requests[0]?.headers).toMatchObject({ 'svc-api-key': 'key_of_the_author' });
  expect(api.requests[0]?.json()).toEqual({ reactor: {} });
  answer = { status: 400, body: { code: 'invalid_request', status: 400, title: 'Wrong' } };
  await expect(post(signal)).rejects.toBeInstanceOf(errors.invalid_request);
});

it('a call that waits ends with its signal', async () => {
  answer = undefined;
  const ending = new AbortController();
  const waiting = post(ending.signal);
  ending.abort();
  await expect(waiting).rejects.toBe(ending.signal.reason);
});
