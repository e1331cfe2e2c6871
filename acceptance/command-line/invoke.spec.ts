import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reactorOf, runningProduct } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { PackedCli, type Ended } from './packed';

const product = runningProduct();
const env = { GLOVEBOX_URL: product.baseUrl, GLOVEBOX_PRIVATE_KEY: product.privateKey };

let cli: PackedCli;
let receiver: Receiver;
let reactorId: string;
beforeAll(async () => {
  cli = new PackedCli();
  receiver = await startReceiver();
  reactorId = await reactorOf(
    product,
    `const { BadRequestError } = require('@svc/reactor-errors');
     module.exports = async ({ args }) => {
       if (args.fail) throw new BadRequestError({ fail: 'as it was told' });
       if (args.wait) await new Promise((done) => setTimeout(done, 60000));
       return { raw: { doubled: args.number * 2 } };
     };`,
    { runtime: 'node24' },
  );
});
afterAll(async () => {
  cli.remove();
  await receiver.close();
});

function words(args: object): string[] {
  const file = join(cli.cwd, 'args.json');
  writeFileSync(file, JSON.stringify(args));
  return ['invoke', reactorId, '--args', file, '--json'];
}
const invoke = (args: object, ...more: string[]): Promise<Ended> =>
  cli.run([...words(args), ...more], { env });
const inBackground = ['--async', '--callback-url'] as const;

it('invoke --async follows a run to its end, and shows what its webhook says', async () => {
  const ended = await invoke({ number: 21 }, ...inBackground, receiver.url);
  expect(ended.code).toBe(0);
  const shown = JSON.parse(ended.stdout) as { run_id: string };
  expect(shown).toMatchObject({ status: 'completed', result: { raw: { doubled: 42 } } });
  expect(ended.stderr).toContain(`run ${shown.run_id}`);
  const webhook = await receiver.next();
  expect(webhook.headers['webhook-id']).toBe(`msg_${shown.run_id}`);
});

it('invoke --async ends with 1 where the run fails, and shows its error', async () => {
  const ended = await invoke({ fail: true }, ...inBackground, receiver.url);
  expect(ended.code).toBe(1);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    status: 'failed',
    error: { status: 400, errors: { fail: ['as it was told'] } },
  });
});

it('invoke --async that is interrupted ends with 130, and leaves the run alone', async () => {
  const started = cli.start([...words({ wait: true }), ...inBackground, receiver.url], { env });
  let said = '';
  started.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (/run [\da-f-]{36}/.test(text)) started.kill('SIGINT');
  });
  const [code] = (await once(started, 'close')) as [number];
  expect(code).toBe(130);
  expect(said).toMatch(/Run [\da-f-]{36} goes on without you/);
});

it('invoke with the same idempotency key runs once, and without a receiver --async is refused', async () => {
  const same = ['--idempotency-key', reactorId, ...inBackground, receiver.url];
  const ids = [await invoke({ number: 1 }, ...same), await invoke({ number: 1 }, ...same)].map(
    ({ stdout }) => (JSON.parse(stdout) as { run_id: string }).run_id,
  );
  expect(ids[1]).toBe(ids[0]);
  expect(await invoke({ number: 1 }, '--async')).toMatchObject({ code: 2, stdout: '' });
});
