import type { ProxyDefinition } from '@glovebox/definitions';
import { startDestination, startRunner, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../../spec-gateway';

let runner: Awaited<ReturnType<typeof startRunner>>;
let gateway: SpecGateway;
let destination: Destination;
let second: Destination;
let key: string;

beforeAll(async () => {
  [runner, destination, second] = await Promise.all([
    startRunner({ env: { EGRESS_ALLOW: '127.0.0.1:*' } }),
    startDestination((request, response) => void response.end(`they sent ${request.text()}`)),
    startDestination(),
  ]);
  gateway = await startSpecGateway({
    RUNNER_URLS: runner.url,
    RUNNER_SECRET: runner.secret,
    PROXY_BUFFER_MAX: '1024',
  });
  key = await gateway.application(['token:use']);
});
afterAll(async () => {
  await gateway.close();
  await destination.close();
  await second.close();
  await runner.stop();
});

const code = (text: string): NonNullable<ProxyDefinition['requestTransform']> => ({
  ...{ code: `module.exports = ({ args }) => { ${text} }`, codeHash: text, runtime: 'node20' },
});

async function call(proxyKey: string, path: string, body: string): Promise<Response> {
  return fetch(`${gateway.url}/proxy${path}`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, 'Content-Type': 'text/plain' },
    body,
  });
}

it('the run of a transform has the tokens that its call has opened', async () => {
  const [inPath, inBody] = [await gateway.token('a-path'), await gateway.token('a body')];
  const transforms = {
    requestTransform: code('return { headers: args.headers, body: args.body };'),
    responseTransform: code('return { body: args.body };'),
  };
  const proxyKey = await gateway.proxy(destination.url, transforms);
  const answer = await call(proxyKey, `/{{${inPath}}}`, `{{ ${inBody} }}`);
  expect(await answer.text()).toBe('they sent a body');
  const runs = await waitFor(async () => {
    const rows = await gateway.asAdmin(
      `SELECT mode, ARRAY(SELECT unnest(token_ids) AS id ORDER BY id) AS token_ids
       FROM ended_runs ORDER BY id`,
    );
    if (rows.length < 2) throw new Error('not written yet');
    return rows;
  });
  const token_ids = [inPath, inBody].sort();
  expect(runs).toEqual([
    { mode: 'request', token_ids },
    { mode: 'response', token_ids },
  ]);
});

describe('the transform of a call that has opened a bound token', () => {
  const elsewhere = 'https://api.example.com';

  it('runs where the whole request may go there, and returns what it likes', async () => {
    const id = await gateway.token('bound', { destinations: [`${destination.url}/v1`] });
    const proxyKey = await gateway.proxy(destination.url, {
      requestTransform: code('return { headers: args.headers, body: `made of ${args.body}` };'),
      responseTransform: code('return { body: args.body };'),
    });
    const answer = await call(proxyKey, '/v1', `{{ ${id} }}`);
    expect(await answer.text()).toBe('they sent made of bound');
    const refused = await call(proxyKey, '/v2', `{{ ${id} }}`);
    expect(await refused.json()).toMatchObject({
      proxy_error: { code: 'destination_not_allowed' },
    });
  });

  it.each(['requestTransform', 'responseTransform'] as const)(
    'reaches the hosts of the token alone as a %s, and others where the token is free',
    async (side) => {
      second.requests.length = 0;
      const asking = code(`
        const get = (url) => new Promise((done) => {
          const asked = require('http').get(url, (res) => res.resume().on('end', () => done(res.statusCode)));
          asked.on('error', ({ code }) => done(code));
        });
        const { headers } = args;
        return Promise.all(['${destination.url}', '${second.url}'].map(get)).then((seen) => ({
          ...(${side === 'requestTransform'} && { headers }), body: seen.join(),
        }));`);
      const proxyKey = await gateway.proxy(destination.url, { [side]: asking });
      const seenWith = async (destinations?: string[]): Promise<string> => {
        const id = await gateway.token('value', destinations && { destinations });
        return (await call(proxyKey, '/', `{{ ${id} }}`)).text();
      };
      expect(await seenWith([destination.url])).toContain('200,ECONNREFUSED');
      expect(second.requests).toEqual([]);
      expect(await seenWith()).toContain('200,200');
    },
  );

  it('sends nothing where its code has opened what may not go to the destination', async () => {
    const id = await gateway.token('bound', { destinations: [elsewhere] });
    const application = await gateway.revocable([], undefined, [
      {
        ...{ description: '', priority: 1, container: '/', transform: 'reveal' },
        permissions: ['token:read'],
      },
    ]);
    const text = `return svc.detokenize('{{ ${id} }}').then((body) => ({ headers: args.headers, body }));`;
    const proxyKey = await gateway.proxy(destination.url, {
      applicationId: application.id,
      requestTransform: {
        ...code(text),
        code: `module.exports = ({ args, svc }) => { ${text} }`,
      },
    });
    destination.requests.length = 0;
    const answer = await call(proxyKey, '', 'x');
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { proxy_error: { code: 'destination_not_allowed' } },
    ]);
    expect(destination.requests).toEqual([]);
    expect(await gateway.uses(id)).toContainEqual(
      expect.objectContaining({ operation: 'proxy.invoke', outcome: 'refused' }),
    );
  });
});

it('an error of a response transform shows no data of a body that was streamed', async () => {
  const ids = [await gateway.token('first value'), await gateway.token({ last_member: 'last' })];
  const responseTransform = code('throw new Error(args.body.replace(/x+/g, ","));');
  const proxyKey = await gateway.proxy(destination.url, { responseTransform });
  const answer = await call(proxyKey, '', ids.map((id) => `{{${id}}}`).join('x'.repeat(5_000)));
  expect(await answer.json()).toMatchObject({
    proxy_error: { errors: { error: ['they sent [redacted],{"[redacted]":"[redacted]"}'] } },
  });
});
