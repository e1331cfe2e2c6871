import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  encodeFrame,
  FrameDecoder,
  spokenVersions,
  type Frame,
  type RunOutcome,
} from '@glovebox/sandbox';
import { brokenFrames, randomFrom, testSeed } from '@glovebox/testing';
import {
  fewAtOnce,
  runHoweverBusy,
  specSecret,
  startSpecRunner,
  type SpecRunner,
} from './spec-runner';

/**
 * No frame of a sandbox or a client may end the runner, which holds the runs of all tenants. An
 * unhandled error or rejection would end a real runner, so none may occur here.
 */
let runner: SpecRunner;
const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);

beforeAll(async () => {
  process.on('uncaughtException', note).on('unhandledRejection', note);
  // A busy machine delays a run, and does not refuse it.
  runner = await startSpecRunner({ SANDBOX_QUEUE_WAIT_MS: '20000' });
});
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled.splice(0)).toEqual([]);
  expect(await runner.run(other)).toMatchObject({ kind: 'returned' });
});
afterAll(async () => {
  await runner.stop();
  process.off('uncaughtException', note).off('unhandledRejection', note);
});

/** Attacks that are under way side by side. */
const atOnce = 4;
const other = 'module.exports = () => ({})';
const types = Array.from({ length: 18 }, (_, type) => type);
/** LOAD, INVOKE, RPCRES, CANCEL and PING are refused as HELLO is: a sandbox sends none of them. */
const sandboxTypes = types.filter((type) => ![3, 5, 8, 10, 11].includes(type));

/** A head that fits every type. `run` is the run in flight. */
const good = `'{"run":1,"id":1,"ok":true,"kind":"returned","method":"svc.tokenize","level":"info"}'`;
const threw = `'{"run":1,"ok":false,"kind":"threw"}'`;
const large = 5 * 1024 * 1024;

/** Head and value of a frame, as the code that makes them. */
const frames: Readonly<Record<string, readonly [head: string, value: string]>> = {
  'a head that is no JSON': [`'{"run":'`, `''`],
  'a head that is no object': [`'[1]'`, `''`],
  'an empty head': [`'{}'`, `''`],
  'a head of wrong types': [
    `'{"run":1,"id":"x","kind":7,"ok":5,"method":[],"stream":-1,"level":1,"params":3,"order":[]}'`,
    `'{}'`,
  ],
  'a head that is nested deeply': [
    `'{"run":1,"id":' + '['.repeat(2000) + ']'.repeat(2000) + '}'`,
    `''`,
  ],
  'a head above its limit': [`'{"run":1' + ' '.repeat(5000) + '}'`, `''`],
  'a method and a level without end': [
    `'{"run":1,"id":1,"method":"svc.' + 'x'.repeat(2000) + '","level":"' + 'x'.repeat(2000) + '"}'`,
    `'{}'`,
  ],
  'a call that does not exist': [`'{"run":1,"id":1,"method":"egress.x","params":{}}'`, `''`],
  'a result of another kind': [`'{"run":1,"ok":false,"kind":"no_capacity"}'`, `''`],
  'a value that is no JSON': [good, `'{"a":'`],
  'a value that is no object': [good, `'5'`],
  'a value that is nested deeply': [good, `'{"a":'.repeat(5000) + '1' + '}'.repeat(5000)`],
  'a value of open brackets': [good, `'['.repeat(1 << 22)`],
  'a value of millions of members': [good, `'{"a":[' + '1e20,'.repeat(1_600_000) + '1]}'`],
  'a value that is no text': [good, `Buffer.alloc(1000, 0xff)`],
  'a value above the limit of calls': [good, `'"' + 'x'.repeat(${large}) + '"'`],
  'a thrown body that is nested deeply': [
    threw,
    `'{"name":"CustomHttpResponseError","message":"","body":' + '['.repeat(5000) + ']'.repeat(5000) + '}'`,
  ],
  'a thrown error that is none': [threw, `'{"name":1}'`],
};
const writer = `const raw = (type, head, value = '') => { const t = Buffer.from(head); const v = Buffer.from(value); const h = Buffer.alloc(9); h.writeUInt32LE(t.length + v.length + 5); h[4] = type; h.writeUInt32LE(t.length, 5); return Buffer.concat([h, t, v]) };
  const say = (frame) => { process._getActiveHandles()[0].write(frame); return new Promise(() => {}) };`;

/** A run of another tenant on the same connection. It returns when it is told to. */
function startNeighbour(): { returns(): Promise<RunOutcome> } {
  let end: (value: unknown) => void = () => undefined;
  const told = new Promise((resolve) => (end = resolve));
  const outcome = runner.run(
    'module.exports = async ({ svc }) => { await svc.detokenize(1); return {} }',
    { tenantId: 'neighbour', svc: true, timeoutMs: 60_000 },
    { onCall: () => told },
  );
  return { returns: () => (end(1), outcome) };
}

describe.each(Object.entries(frames))('frames of every type with %s', (_, [head, value]) => {
  it('from a sandbox end that sandbox at most', async () => {
    const neighbour = startNeighbour();
    const code = `${writer} module.exports = ({ args }) => say(raw(args.type, ${head}, ${value}))`;
    const outcomes = fewAtOnce(atOnce, sandboxTypes, (type) =>
      runHoweverBusy(
        runner,
        code,
        { args: { type }, svc: true, timeoutMs: 400, resultBytesMax: 31 * 1024 * 1024 },
        { onCall: (method, params) => Promise.resolve({ method, params }) },
      ),
    );
    for (const { kind } of await Promise.all(outcomes)) {
      expect(['died', 'timed_out', 'invalid_result', 'threw', 'returned']).toContain(kind);
    }
    expect(await neighbour.returns()).toEqual({ kind: 'returned', value: {} });
  });

  it('from a client end its connection at most', async () => {
    const neighbour = startNeighbour();
    const said = new Function(`return [${head}, ${value}]`)() as [string, string];
    for (const type of types) {
      for (const isWelcome of [false, true]) {
        const socket = await open(isWelcome);
        socket.write(rawFrame(type, ...said));
        // An accepted frame is handled before the ping. A refused one closes the connection.
        if (isWelcome) socket.write(encodeFrame('PING', { id: 1 }));
        await Promise.race(isWelcome ? [closed(socket), ponged(socket)] : [closed(socket)]);
        socket.destroy();
      }
    }
    expect(await neighbour.returns()).toEqual({ kind: 'returned', value: {} });
  });
});

describe('mutated streams of frames', () => {
  const seed = testSeed();
  const streams = (count: number): Buffer[] => {
    const random = randomFrom(seed);
    return Array.from({ length: count }, () => brokenFrames(random));
  };

  it(`from clients end their connections at most (seed ${seed})`, async () => {
    const neighbour = startNeighbour();
    const sent = fewAtOnce(atOnce, streams(300), async (bytes) => {
      const socket = await open(true);
      socket.end(bytes);
      await closed(socket);
    });
    await Promise.all(sent);
    expect(await neighbour.returns()).toEqual({ kind: 'returned', value: {} });
  });

  it(`from sandboxes end them at most (seed ${seed})`, async () => {
    const neighbour = startNeighbour();
    const code = `${writer} module.exports = ({ args }) => (say(Buffer.from(args.bytes, 'base64')), { alive: true })`;
    const outcomes = fewAtOnce(atOnce, streams(40), (bytes) =>
      runner.run(
        code,
        { args: { bytes: bytes.toString('base64') }, svc: true, timeoutMs: 1_000 },
        { onCall: (method, params) => Promise.resolve({ method, params }) },
      ),
    );
    for (const { kind } of await Promise.all(outcomes)) {
      expect(['died', 'invalid_result', 'threw', 'returned', 'timed_out']).toContain(kind);
    }
    expect(await neighbour.returns()).toEqual({ kind: 'returned', value: {} });
  });
});

describe('a value of a sandbox that its caller cannot read', () => {
  const result = '{"run":1,"kind":"returned"}';
  it.each([
    ['is no JSON', result, `'{"a":'`, 'the value is not json'],
    ['is no object', result, `'5'`, 'value is not an object'],
    ['is nested too deeply', result, `'['.repeat(100)`, 'the value is too deep'],
    ['is no error', '{"run":1,"kind":"threw"}', `'{"name":1}'`, 'name is not a string'],
  ])('ends its run alone when it %s', async (_, head, value, reason) => {
    const neighbour = startNeighbour();
    const code = `${writer} module.exports = () => say(raw(6, '${head}', ${value}))`;
    expect(await runner.run(code)).toEqual({
      kind: 'died',
      reason: `protocol violation: ${reason}`,
    });
    expect(await neighbour.returns()).toEqual({ kind: 'returned', value: {} });
  });

  it.each([
    ['no JSON', `'[1'`, 400],
    ['nested too deeply', `'['.repeat(100)`, 400],
    ['of too many members', `'[' + '1,'.repeat(100_000) + '1]'`, 413],
  ])('gets an error for a call whose arguments are %s', async (_, params, status) => {
    const code = `${writer} module.exports = () => {
      const channel = process._getActiveHandles()[0];
      say(raw(7, '{"run":1,"id":2,"method":"svc.tokenize"}', ${params}));
      return new Promise((resolve) => channel.prependListener('data', (data) => {
        const [, status] = /"status":([0-9]+)/.exec(data.toString('latin1')) ?? [];
        if (status) resolve({ status: Number(status) }) })) }`;
    const onCall = (): Promise<number> => Promise.resolve(1);
    expect(await runner.run(code, { svc: true }, { onCall })).toEqual({
      kind: 'returned',
      value: { status },
    });
  });
});

it('the limit of a result also holds for a thrown body', async () => {
  const code = `${writer} module.exports = () => {
    const error = { name: 'Error', message: '', body: 'x'.repeat(5000) };
    return say(raw(6, '{"run":1,"kind":"threw"}', JSON.stringify(error))) }`;
  expect(await runner.run(code, { resultBytesMax: 1_000 })).toMatchObject({ kind: 'died' });
  expect(await runner.run(code, { codeHash: 'larger', resultBytesMax: 10_000 })).toMatchObject({
    kind: 'threw',
  });
});

it('a result or an error of too many members is no result', async () => {
  const list = `'{"a":[' + '1,'.repeat(250_000) + '1]}'`;
  for (const [kind, value] of [
    ['returned', list],
    ['threw', `'{"name":"E","message":"","body":' + ${list} + '}'`],
  ]) {
    const code = `${writer} module.exports = () => say(raw(6, '{"run":1,"kind":"${kind}"}', ${value}))`;
    expect(await runner.run(code)).toEqual({ kind: 'invalid_result', reason: 'too_large' });
  }
});

it('numbers that grow when they are written again are returned as they are, and cut when thrown', async () => {
  const list = `'{"a":[' + '1e20,'.repeat(200_000) + '1]}'`;
  const resultBytesMax = 31 * 1024 * 1024;
  const said = (kind: string, value: string): string =>
    `${writer} module.exports = () => say(raw(6, '{"run":1,"kind":"${kind}"}', ${value}))`;
  const outcome = await runner.run(said('returned', list), { resultBytesMax });
  expect(outcome.kind === 'returned' && (outcome.value as { a: number[] }).a).toHaveLength(200_001);
  const error = `'{"name":"E","message":"","body":' + ${list} + '}'`;
  expect(await runner.run(said('threw', error), { codeHash: 'threw', resultBytesMax })).toEqual({
    kind: 'threw',
    error: { name: 'E', message: '', body: `{"a":[${`${10 ** 20},`.repeat(46)}`.slice(0, 1_000) },
  });
});

it('an answer of the client that cannot be passed on fails only its call', async () => {
  const code = `module.exports = ({ svc }) => svc.tokenize({}).then(() => ({ ok: true }), ({ message, status }) => ({ message, status }))`;
  const deep = JSON.parse('['.repeat(100) + ']'.repeat(100)) as unknown;
  for (const value of [deep, 'x'.repeat(32 * 1024 * 1024), { a: 1n }]) {
    expect(
      await runner.run(code, { svc: true }, { onCall: () => Promise.resolve(value) }),
    ).toMatchObject({ kind: 'returned', value: { status: 500 } });
  }
});

describe('HELLO', () => {
  const answerTo = async (versions: object): Promise<{ type: string; head?: unknown }> => {
    const socket = connect(runner.socketFile).on('error', () => undefined);
    const answered = new Promise<Frame>((resolve) => {
      const decoder = new FrameDecoder(resolve);
      socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    });
    socket.write(encodeFrame('HELLO', { ...versions, secret: specSecret }));
    const frame = await answered;
    if (frame.type === 'HELLO') await closed(socket);
    socket.destroy();
    return 'head' in frame ? { type: frame.type, head: frame.head } : frame;
  };
  const { lowest, highest } = spokenVersions;

  it.each([
    ['0.1.0, which names one version,', { version: 2 }, 2],
    ['the same release', { version: lowest, lowest, highest }, highest],
    ['the next release', { version: lowest, lowest: highest, highest: highest + 1 }, highest],
  ])('of %s is answered with the newest version of both', async (_, versions, version) => {
    expect(await answerTo(versions)).toMatchObject({ type: 'READY', head: { version } });
  });

  it.each([
    ['a later release', { version: 7, lowest: 7, highest: 9 }],
    ['an earlier release', { version: 1 }],
    ['no version', {}],
  ])(
    'of %s is answered with the versions of the runner, and the connection ends',
    async (_, versions) => {
      expect(await answerTo(versions)).toEqual({
        type: 'HELLO',
        head: { version: lowest, lowest, highest },
      });
    },
  );
});

function rawFrame(type: number, head: string, value: string): Buffer {
  const prefix = Buffer.alloc(9);
  const [headBytes, valueBytes] = [Buffer.byteLength(head), Buffer.byteLength(value)];
  prefix.writeUInt32LE(5 + headBytes + valueBytes);
  prefix[4] = type;
  prefix.writeUInt32LE(headBytes, 5);
  return Buffer.concat([prefix, Buffer.from(head), Buffer.from(value)]);
}

async function open(isWelcome: boolean): Promise<Socket> {
  const socket = connect(runner.socketFile).on('error', () => undefined);
  if (isWelcome) {
    socket.write(encodeFrame('HELLO', { version: spokenVersions.highest, secret: specSecret }));
    await once(socket, 'data');
  } else await once(socket, 'connect');
  socket.resume();
  return socket;
}

/** Resolves when the connection was ended or reset. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

function ponged(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const decoder = new FrameDecoder((frame: Frame) => {
      if (frame.type === 'PONG') resolve();
    });
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
  });
}
