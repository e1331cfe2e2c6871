import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { waitFor } from '@glovebox/testing';
import { authorSession } from './author-session';
import { call, create, runningProduct } from './product';

const product = runningProduct();
const { baseUrl, adminKey, privateKey, inspectorPort } = product;
const card = '4539578763621486';
const code = `module.exports = ({ args }) => {
  debugger;
  return { raw: { length: args.card.length } };
};`;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly callFrames: readonly { readonly callFrameId: string }[] };
  readonly result?: { readonly result: { readonly value: unknown } };
}

/** What a command line does with a debugger, without either. */
async function attach(session: string) {
  const socket = connect(inspectorPort, '127.0.0.1');
  const messages: Message[] = [];
  const said: Record<string, unknown>[] = [];
  createInterface({ input: socket }).on('line', (line) => {
    const read = JSON.parse(line) as { readonly message?: string };
    if (read.message === undefined) said.push(read);
    else messages.push(JSON.parse(read.message) as Message);
  });
  const say = (line: object): void => void socket.write(`${JSON.stringify(line)}\n`);
  say({ session });
  await waitFor(() => said.some(({ ready }) => ready));
  let id = 0;
  const told = async (find: (message: Message) => boolean): Promise<Message> => {
    await waitFor(() => messages.some(find));
    return messages.find(find) as Message;
  };
  return {
    begun: () => waitFor(() => said.some(({ begun }) => begun)),
    start: () => say({ start: true }),
    paused: () => told(({ method }) => method === 'Debugger.paused'),
    ask: (method: string, params: object = {}) => {
      id += 1;
      const asked = id;
      say({ message: JSON.stringify({ id: asked, method, params }) });
      return told((message) => message.id === asked);
    },
    leave: () => socket.destroy(),
  };
}

it('a debugger sees the arguments as their author sent them, and no value of a token', async () => {
  const { id } = await create(product, '/tokens', { type: 'token', data: card }, privateKey);
  const inspect = randomUUID();
  const author = await attach(inspect);
  const args = { card: `{{ ${id} }}` };
  const { api, key } = await authorSession();
  const dryRun = (more: object) => {
    const body = { reactor: { formula: { code } }, args, ...more };
    return call('POST', `${api}/reactors/dry-runs`, { key, body });
  };
  expect((await dryRun({})).body).toMatchObject({ result: { raw: { length: card.length } } });
  expect((await dryRun({ inspect, svc: true })).body).toMatchObject({
    errors: { svc: ['is not for a run that a debugger sees'] },
  });
  const running = dryRun({ inspect });
  await author.begun();
  await author.ask('Debugger.enable');
  author.start();
  const { params } = await author.paused();
  const callFrameId = params?.callFrames[0]?.callFrameId;
  const { result } = await author.ask('Debugger.evaluateOnCallFrame', {
    ...{ callFrameId, expression: 'args.card' },
  });
  expect(result?.result.value).toBe(args.card);
  await author.ask('Debugger.resume');
  expect((await running).body).toMatchObject({
    ...{ status: 'completed', result: { raw: { length: args.card.length } } },
  });
  author.leave();
});

it('a caller hears that its run goes on while a debugger holds it', async () => {
  const inspect = randomUUID();
  const author = await attach(inspect);
  const asking = request(`${product.managementUrl}/reactors/dry-runs`, {
    ...{ method: 'POST', agent: false },
    headers: { 'SVC-API-KEY': adminKey, 'Content-Type': 'application/json' },
  });
  const answered = once(asking, 'response');
  asking.end(JSON.stringify({ reactor: { formula: { code } }, args: { card: 'x' }, inspect }));
  await author.begun();
  await author.ask('Debugger.enable');
  author.start();
  await author.paused();
  const [{ statusCode }] = (await once(asking, 'information')) as [{ statusCode: number }];
  expect(statusCode).toBe(102);
  await author.ask('Debugger.resume');
  const [answer] = (await answered) as [IncomingMessage];
  expect(JSON.parse(await text(answer))).toMatchObject({ status: 'completed' });
  author.leave();
});

it('a run that no debugger is there for is refused, and says why', async () => {
  const body = { reactor: { formula: { code } }, args: {}, inspect: randomUUID() };
  const answer = await call('POST', `${baseUrl}/reactors/dry-runs`, { key: adminKey, body });
  expect([answer.status, answer.body]).toMatchObject([
    503,
    { code: 'no_capacity', detail: 'No debugger has told the runner the session of this run.' },
  ]);
});
