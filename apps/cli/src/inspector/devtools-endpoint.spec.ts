import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { AttachedDebugger, waitFor } from '@glovebox/testing';
import { DevtoolsEndpoint } from './devtools-endpoint';

const target = { title: 'reactors/hello/code.ts', url: 'file:///shop/reactors/hello/code.ts' };
let said: string[];
let endpoint: DevtoolsEndpoint;
beforeEach(async () => {
  said = [];
  endpoint = await DevtoolsEndpoint.open(0, target, {
    attached: () => said.push('attached'),
    said: (message) => said.push(message),
    left: () => said.push('left'),
  });
});
afterEach(() => endpoint.close());

async function get(path: string, host = endpoint.address): Promise<unknown[]> {
  const asked = request(`http://${endpoint.address}${path}`, { headers: { host } }).end();
  const answer = await new Promise<IncomingMessage>((done, fail) =>
    asked.once('response', done).once('error', fail),
  );
  const { statusCode } = answer;
  if (statusCode === 200) return [statusCode, await json(answer)];
  answer.resume();
  return [statusCode];
}

it('lists one target in the words of Node, so that editors and browsers find it', async () => {
  const id = endpoint.url.replace(/^.*\//, '');
  const described = {
    ...{ id, type: 'node', ...target, webSocketDebuggerUrl: endpoint.url },
    devtoolsFrontendUrl: expect.stringContaining(`ws=${endpoint.address}/${id}`) as string,
  };
  for (const path of ['/json', '/json/list']) {
    expect(await get(path)).toEqual([200, [expect.objectContaining(described)]]);
  }
  expect(await get('/json/version')).toMatchObject([
    200,
    { Browser: `node.js/${process.version}`, 'Protocol-Version': '1.1' },
  ]);
  expect(await get('/elsewhere')).toEqual([404]);
});

it('tells a page nothing whose name leads to this machine', async () => {
  expect(await get('/json', 'evil.example')).toEqual([400]);
  expect(await get('/json', '127.0.0.1.evil.example:9229')).toEqual([400]);
  for (const host of ['localhost:9229', '127.0.0.1', '[::1]:9229']) {
    expect(await get('/json', host)).toMatchObject([200, [{ type: 'node' }]]);
  }
});

it.each([
  ['of a page', { origin: 'https://evil.example' }, ''],
  ['of a file', { origin: 'null' }, ''],
  ['by a name of DNS', { host: 'evil.example' }, ''],
  ['that does not know the id', {}, '0'],
])('refuses a debugger %s', async (_, headers: Record<string, string>, more) => {
  await expect(AttachedDebugger.attach(endpoint.url + more, headers)).rejects.toThrow('400');
  expect(said).toEqual([]);
});

it('serves one debugger at a time, and the next one when it has left', async () => {
  const origin = 'devtools://devtools';
  const first = await AttachedDebugger.attach(endpoint.url, { origin });
  await expect(AttachedDebugger.attach(endpoint.url)).rejects.toThrow('400');
  first.say('Runtime.enable');
  await waitFor(() => said.length === 2);
  first.detach();
  await waitFor(() => said.includes('left'));
  const second = await AttachedDebugger.attach(endpoint.url);
  expect(said).toEqual(['attached', expect.stringContaining('Runtime.enable'), 'left', 'attached']);
  endpoint.dismiss();
  await waitFor(() => second.isClosed);
});

it('ends a debugger that sends more than a message may have', async () => {
  const attached = await AttachedDebugger.attach(endpoint.url);
  attached.say(['Runtime.evaluate', { expression: 'x'.repeat(2 * 1024 * 1024) }]);
  await waitFor(() => said.length === 2);
  expect(said).toEqual(['attached', 'left']);
  await waitFor(() => attached.isClosed);
});

it('says that its port is in use', async () => {
  const port = Number(endpoint.address.replace(/^.*:/, ''));
  const listener = { attached() {}, said() {}, left() {} };
  await expect(DevtoolsEndpoint.open(port, target, listener)).rejects.toMatchObject({
    ...{ exit: 'usage', message: expect.stringContaining(`Port ${port}`) as string },
    hint: expect.stringContaining('--inspect 0') as string,
  });
});
