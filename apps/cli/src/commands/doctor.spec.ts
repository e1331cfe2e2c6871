import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { startDestination, type Destination } from '@glovebox/testing';
import { glovebox } from '../spec-program';

type Answer = (response: ServerResponse) => void;

const json =
  (body: object, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };

let server: Destination;
let answers: Record<string, Answer>;
beforeEach(async () => {
  const application = { id: 'a', name: 'Deploys', type: 'management', permissions: [] };
  answers = {
    '/health/ready': json({ status: 'ready' }),
    '/applications/key': json(application),
    '/overview': json({ processes: [{ version: '1.2.3' }] }),
  };
  server = await startDestination(({ url }, response) => answers[url]?.(response));
});
afterEach(() => server.close());

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  readonly mend?: string;
}

async function failedChecks(
  url = server.url,
  env: Record<string, string> = { GLOVEBOX_KEY: 'key_of_tests' },
): Promise<readonly Check[]> {
  const ended = await glovebox(['doctor', '--json', '--url', url], { env });
  const { ok, checks } = JSON.parse(ended.stdout) as { ok: boolean; checks: readonly Check[] };
  const failed = checks.filter((check) => !check.ok);
  expect([ok, ended.code]).toEqual(failed.length === 0 ? [true, 0] : [false, 1]);
  return failed;
}

it('finds nothing wrong where nothing is', async () => {
  expect(await failedChecks()).toEqual([]);
});

it('an address in the clear beyond this machine fails', async () => {
  const [first] = await failedChecks(server.url.replace('127.0.0.1', '0.0.0.0'));
  expect(first).toMatchObject({ name: 'URL', mend: 'Use https.' });
});

it('a Glovebox that is not ready fails, and what it says is shown', async () => {
  answers['/health/ready'] = json({ failing: 'postgres' }, 503);
  const [check] = await failedChecks();
  expect(check?.name).toBe('answer');
  expect(check?.says).toContain('not ready: 503');
  expect(check?.mend).toContain('{"failing":"postgres"}');
});

it('an address without an answer fails, and nothing else is asked', async () => {
  const { url } = server;
  await server.close();
  expect(await failedChecks(url)).toMatchObject([{ name: 'answer' }]);
  expect(server.requests).toEqual([]);
});

it('a clock that is an hour away fails', async () => {
  const before = new Date(Date.now() - 3_600_000).toUTCString();
  answers['/health/ready'] = (response) => response.writeHead(200, { Date: before }).end();
  const [check] = await failedChecks();
  expect(check).toMatchObject({ name: 'clock' });
  expect(check?.says).toMatch(/^360\d s from that of Glovebox$/);
});

it('a key that Glovebox does not know fails, and so does one that is missing', async () => {
  answers['/applications/key'] = json({ code: 'unauthorized', status: 401, title: 'No.' }, 401);
  const name = 'management key';
  const mend = 'Log in again: `glovebox login`.';
  expect(await failedChecks()).toMatchObject([{ name, mend }]);
  const [missing] = await failedChecks(server.url, {});
  expect(missing?.says).toContain('There is no key of a management application');
});

it('a key of an application that deploys nothing fails', async () => {
  answers['/applications/key'] = json({ id: 'a', name: 'Runs', type: 'private' });
  const [check] = await failedChecks();
  expect(check).toMatchObject({ name: 'permissions' });
  expect(check?.says).toBe('a private application deploys nothing');
});

it('an answer that never ends does not hold the doctor up', async () => {
  const end = new AbortController();
  jest.spyOn(AbortSignal, 'timeout').mockImplementationOnce((ms) => {
    expect(ms).toBe(15_000);
    return end.signal;
  });
  answers['/health/ready'] = (response) => {
    response.write('{');
    end.abort(new Error('too late'));
  };
  const [check] = await failedChecks();
  expect(check?.says).toContain('too late');
});

it('of an answer that has no end little is read', async () => {
  let ended: Promise<unknown> | undefined;
  answers['/health/ready'] = (response) => {
    ended = once(response, 'close');
    const more = (): void => {
      while (response.write('x'.repeat(1_024)));
      response.once('drain', more);
    };
    more();
  };
  expect(await failedChecks()).toEqual([]);
  await ended;
});
