import { startDestination, type Destination } from '@glovebox/testing';
import { glovebox, type Ended } from './spec-program';

let server: Destination;
let answer: { readonly status: number; readonly body: object };
/** Is waited for before an answer. */
let answering: () => Promise<void>;
beforeEach(async () => {
  answering = () => Promise.resolve();
  server = await startDestination(async (_, response) => {
    await answering();
    response.writeHead(answer.status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  });
});
afterEach(() => server.close());

const env = () => ({
  ...{ GLOVEBOX_URL: server.url, GLOVEBOX_KEY: 'key_of_tests' },
  GLOVEBOX_PRIVATE_KEY: 'key_of_tests',
});

const moves = 'a\x1b[2J\x1b]0;title\x07b\u202e\x9b';

describe('text of others cannot change the terminal', () => {
  it.each([
    ['in the message of an error', { detail: moves }],
    ['in its members', { title: 'Wrong', errors: { [moves]: [moves] } }],
  ])('%s', async (_, body) => {
    answer = { status: 400, body: { code: 'reactor_error', status: 400, title: '', ...body } };
    const reactor = '01234567-89ab-cdef-0123-456789abcdef';
    const ended = await glovebox(['invoke', reactor], { env: env() });
    expect(ended).toMatchObject({ code: 4, stdout: '' });
    expect(ended.stderr).toContain('ab\\u202e\\u009b');
    expect(ended.stderr).not.toMatch(/[\x1b\x07\x9b\u202e]/);
  });

  it('in the name of an application, and in what is no answer of Glovebox', async () => {
    answer = { status: 200, body: { id: 'a', name: moves, type: 'management', permissions: [] } };
    const named = await glovebox(['doctor'], { env: env() });
    expect(named.stdout).toContain('ab\\u202e\\u009b (management)');
    answer = { status: 503, body: { said: '\u202e\x9b' } };
    const unready = await glovebox(['doctor'], { env: env() });
    expect(unready.stdout).toContain('It said: {"said":"\\u202e\\u009b"}');
    for (const { stdout } of [named, unready]) expect(stdout).not.toMatch(/[\x1b\x07\x9b\u202e]/);
  });
});

describe('with --json an error is one value', () => {
  const errorOf = ({ stderr }: Ended): unknown => (JSON.parse(stderr) as { error: unknown }).error;

  it.each([
    [['psuh', '--json'], "unknown command 'psuh'"],
    [['logs', '--json', '--since'], "option '--since <minutes>' argument missing"],
    [['invoke', '--json'], "missing required argument 'name'"],
    [['--json'], 'There is no command.'],
  ])('of a command that is written wrongly: %j', async (words, said) => {
    const ended = await glovebox(words);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ended)).toMatchObject({
      ...{ exit: 'usage', message: expect.stringContaining(said) as unknown },
    });
  });

  it('of the program itself', async () => {
    answer = { status: 200, body: { name: 'odd', type: 'management', rules: 5 } };
    const ended = await glovebox(['doctor', '--json'], { env: env() });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(errorOf(ended)).toMatchObject({
      message: expect.stringMatching(/^A fault of the program itself: TypeError: /) as unknown,
    });
  });

  it('after a wait as well', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    answer = { status: 400, body: { code: 'invalid_request', status: 400, title: 'Wrong.' } };
    answering = async () => void (await jest.advanceTimersByTimeAsync(5_000));
    const ended = await glovebox(['logs', '--json'], { env: env() });
    jest.useRealTimers();
    expect(errorOf(ended)).toMatchObject({ exit: 'rejected' });
  });
});

it('words of another command ask for no JSON', async () => {
  const { stderr } = await glovebox(['psuh', '--', '--json']);
  expect(stderr).toMatch(/^error: unknown command 'psuh'/);
});
