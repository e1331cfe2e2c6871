import { freePort, waitFor } from '@glovebox/testing';
import { RunnerLink, runnerAddressOf } from './runner-link';
import { SpecRunner } from './spec-runner';

const { signal } = new AbortController();
let runner: SpecRunner;
beforeEach(async () => {
  runner = await SpecRunner.start();
});
afterEach(() => runner.close());

async function opened(): Promise<{ link: RunnerLink; heard: unknown[] }> {
  const heard: unknown[] = [];
  const listener = {
    begun: (run: object) => heard.push(run),
    said: (message: string) => heard.push(message),
    ended: () => heard.push('ended'),
    lost: (why: string) => heard.push({ why }),
  };
  const link = await RunnerLink.open(runnerAddressOf(runner.address), 'one', listener, signal);
  return { link, heard };
}

it('lines of no known form say nothing, and those after them are heard', async () => {
  const { link, heard } = await opened();
  const lines = ['', '}', '7', 'null', '[]', '{"message":{}}', '{"begun":{"side":"all"}}'];
  lines.forEach((line) => runner.link?.write(`${line}\n`));
  runner.say({ begun: { side: 'request', runtime: 'node24' } });
  runner.say({ message: 'é' });
  runner.say({ ended: true });
  await waitFor(() => heard.length >= 3);
  expect(heard).toEqual([{ side: 'request', runtime: 'node24' }, 'é', 'ended']);
  link.close();
});

it('a line without an end is not kept: the link is lost', async () => {
  const { link, heard } = await opened();
  runner.link?.write(Buffer.alloc(9 * 1024 * 1024, 'x'));
  await waitFor(() => link.isClosed);
  expect(heard).toEqual([{ why: expect.stringContaining('longer than') as string }]);
});

it('a runner that goes away is told of once', async () => {
  const { link, heard } = await opened();
  runner.link?.end();
  await waitFor(() => link.isClosed);
  expect(heard).toEqual([{ why: 'the runner has closed it' }]);
});

it('where nobody listens, the error says how a product lets code be inspected', async () => {
  const address = runnerAddressOf(`127.0.0.1:${await freePort()}`);
  const listener = { begun() {}, said() {}, ended() {}, lost() {} };
  await expect(RunnerLink.open(address, 'one', listener, signal)).rejects.toMatchObject({
    ...{ exit: 'unreachable', message: `Nobody listens at 127.0.0.1:${address.port}.` },
    hint: expect.stringContaining('SANDBOX_INSPECT=true npm start') as string,
  });
});

it.each(['runner.example:9230', '192.168.1.7:9230', '127.0.0.1.evil.example:9230'])(
  '%s is not on this machine, and ssh brings it here',
  (text) => {
    expect(() => runnerAddressOf(text)).toThrow('not on this machine');
    expect(() => runnerAddressOf(text)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('ssh -L 9230') as string }),
    );
  },
);

it.each(['', '9230', 'localhost', 'localhost:0', 'localhost:99999'])(
  '"%s" is no address of a runner',
  (text) => expect(() => runnerAddressOf(text)).toThrow('is no address of a runner'),
);
