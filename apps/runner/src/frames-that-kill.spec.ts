import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { encodeFrame, FrameDecoder, type Frame, type RunOutcome } from '@glovebox/sandbox';
import { specSecret, startSpecRunner, type SpecRunner } from './spec-runner';

/**
 * No frame of a sandbox or a client may end the runner, which holds the runs of all tenants. An
 * unhandled error or rejection would end a real runner, so none may occur here.
 */
let runner: SpecRunner;
const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);

beforeAll(async () => {
  process.on('uncaughtException', note).on('unhandledRejection', note);
  runner = await startSpecRunner();
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

const other = 'module.exports = () => ({})';
const types = Array.from({ length: 17 }, (_, type) => type);

/** The JSON text of a frame. `run` is the run in flight. */
const bodies: Readonly<Record<string, string>> = {
  'no JSON': `'{"run":'`,
  'no JSON object': `'[1]'`,
  'an empty object': `'{}'`,
  'members of wrong types': `'{"run":1,"id":"x","kind":7,"ok":5,"method":[],"stream":-1,"level":1,"text":{},"error":3}'`,
  'deep nesting': `'{"run":1,"id":1,"ok":true,"kind":"returned","method":"svc.tokenize","level":"info","text":"","value":' + '{"a":'.repeat(5000) + '1' + '}'.repeat(5000) + '}'`,
  'millions of open brackets': `'['.repeat(1 << 22)`,
  'a thrown body that is nested deeply': `'{"run":1,"ok":false,"kind":"threw","error":{"name":"CustomHttpResponseError","message":"","body":' + '['.repeat(5000) + ']'.repeat(5000) + '}}'`,
  'numbers that grow when they are written again': `'{"run":1,"id":1,"ok":true,"kind":"returned","method":"svc.tokenize","params":[' + '1e20,'.repeat(1_600_000) + '1],"value":{"a":[' + '1e20,'.repeat(1_600_000) + '1]}}'`,
  'a result of another kind': `'{"run":1,"ok":false,"kind":"no_capacity"}'`,
};
const writer = `const raw = (type, text) => { const t = Buffer.from(text); const h = Buffer.alloc(5); h.writeUInt32LE(t.length + 1); h[4] = type; return Buffer.concat([h, t]) };`;

describe.each(Object.entries(bodies))('frames of every type with %s', (_, body) => {
  it('from a sandbox end that sandbox at most', async () => {
    const code = `${writer}
      module.exports = ({ args }) => { process._getActiveHandles()[0].write(raw(args.type, ${body})); return new Promise(() => {}) }`;
    const outcomes: RunOutcome[] = [];
    for (const type of types) {
      outcomes.push(
        await runner.run(
          code,
          { args: { type }, svc: true, timeoutMs: 700, resultBytesMax: 31 * 1024 * 1024 },
          { onCall: (method, params) => Promise.resolve({ method, params }) },
        ),
      );
    }
    for (const { kind } of outcomes) {
      expect(['died', 'timed_out', 'invalid_result', 'threw', 'returned']).toContain(kind);
    }
  }, 60_000);

  it('from a client end its connection at most', async () => {
    const text = new Function(`return ${body}`)() as string;
    for (const type of types) {
      for (const isWelcome of [false, true]) {
        const socket = await open(isWelcome);
        socket.write(rawFrame(type, text));
        // An accepted frame is handled before the ping. A refused one closes the connection.
        if (isWelcome) socket.write(encodeFrame('PING', { id: 1 }));
        await Promise.race(isWelcome ? [closed(socket), ponged(socket)] : [closed(socket)]);
        socket.destroy();
      }
    }
  }, 60_000);
});

it('the limit of a result also holds for a thrown body', async () => {
  const code = `${writer}
    module.exports = () => {
      const error = { name: 'Error', message: '', body: 'x'.repeat(5000) };
      process._getActiveHandles()[0].write(raw(6, JSON.stringify({ run: 1, kind: 'threw', error })));
      return new Promise(() => {}) }`;
  expect(await runner.run(code, { resultBytesMax: 1_000 })).toMatchObject({ kind: 'died' });
  expect(await runner.run(code, { codeHash: 'larger', resultBytesMax: 10_000 })).toMatchObject({
    kind: 'threw',
  });
});

it('numbers that outgrow the frame are an invalid result when returned, and are cut when thrown', async () => {
  const list = `'{"a":[' + '1e20,'.repeat(1 << 21) + '1]}'`;
  const said = (text: string): string => `${writer}
    module.exports = () => {
      process._getActiveHandles()[0].write(raw(6, '{"run":1,' + ${text} + '}'));
      return new Promise(() => {}) }`;
  const resultBytesMax = 31 * 1024 * 1024;
  const returned = said(`'"kind":"returned","value":' + ${list}`);
  expect(await runner.run(returned, { resultBytesMax })).toEqual({
    kind: 'invalid_result',
    reason: 'too_large',
  });
  const error = `'"error":{"name":"E","message":"","body":' + ${list} + '}'`;
  const threw = said(`'"kind":"threw",' + ${error}`);
  expect(await runner.run(threw, { codeHash: 'threw', resultBytesMax })).toEqual({
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

function rawFrame(type: number, text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(Buffer.byteLength(text) + 1);
  head[4] = type;
  return Buffer.concat([head, Buffer.from(text)]);
}

async function open(isWelcome: boolean): Promise<Socket> {
  const socket = connect(runner.socketFile).on('error', () => undefined);
  if (isWelcome) {
    socket.write(encodeFrame('HELLO', { version: 1, secret: specSecret }));
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
