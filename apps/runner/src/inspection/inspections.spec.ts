import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { RunRequest } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { specLevels, specRuntimes, startSpecRunner, type SpecRunner } from '../spec-runner';

const code = `const twice = (n) => 2 * n;
module.exports = async ({ args }) => {
  const sum = twice(args.n) + 1;
  return { sum };
};`;
/** Counted from 0, as debuggers do. */
const lineOfReturn = 3;

interface Line {
  readonly ready?: boolean;
  readonly begun?: { readonly side: string; readonly runtime: string };
  readonly ended?: boolean;
  readonly message?: string;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly callFrames: readonly { readonly callFrameId: string }[] };
  readonly result?: { readonly result?: { readonly value: unknown } };
  readonly error?: object;
}

/** A command line with a debugger, as the runner sees it. */
class Debugger {
  readonly session = randomUUID();
  readonly lines: Line[] = [];
  private last = 0;

  private constructor(readonly socket: Socket) {
    createInterface({ input: socket }).on('line', (line) =>
      this.lines.push(JSON.parse(line) as Line),
    );
    socket.on('error', () => undefined);
  }

  static async at(port: number): Promise<Debugger> {
    const made = new Debugger(connect(port, '127.0.0.1'));
    made.say({ session: made.session });
    await made.hears(({ ready }) => ready === true);
    return made;
  }

  say(line: object): void {
    this.socket.write(`${JSON.stringify(line)}\n`);
  }

  hears<Heard>(find: (line: Line) => Heard | undefined | false, from = 0): Promise<Heard> {
    return waitFor(() => {
      for (const line of this.lines.slice(from)) {
        const found = find(line);
        if (found !== undefined && found !== false) return found;
      }
      throw new Error('not heard yet');
    });
  }

  told(find: (message: Message) => boolean, from = 0): Promise<Message> {
    return this.hears(({ message }) => {
      const read = message === undefined ? undefined : (JSON.parse(message) as Message);
      return read && find(read) ? read : undefined;
    }, from);
  }

  ask(method: string, params: object = {}): Promise<Message> {
    this.last += 1;
    const id = this.last;
    this.say({ message: JSON.stringify({ id, method, params }) });
    return this.told((message) => message.id === id);
  }

  async breaksAt(lineNumber: number): Promise<void> {
    await this.ask('Runtime.enable');
    await this.ask('Debugger.enable');
    await this.ask('Debugger.setBreakpointByUrl', { url: 'reactor.js', lineNumber });
    await this.ask('Runtime.runIfWaitingForDebugger');
    this.say({ start: true });
  }

  leave(): void {
    this.socket.destroy();
  }
}

async function inspectingRunner(env: Readonly<Record<string, string>> = {}) {
  const runner = await startSpecRunner({ SANDBOX_INSPECT: 'true', ...env });
  const port = await runner.ctx.inspections?.listen(0);
  return { runner, port: port ?? 0 };
}

const inspected = (session: string, more: Partial<RunRequest> = {}): Partial<RunRequest> => ({
  ...{ args: { n: 20 }, timeoutMs: 60_000, inspection: { session, side: 'reactor' } },
  ...more,
});

const setups = specLevels.flatMap((level) => specRuntimes.map((runtime) => ({ level, runtime })));

it.each(setups)(
  'a breakpoint holds code at level $level on $runtime, and the run goes on after it',
  async ({ level, runtime }) => {
    const { runner, port } = await inspectingRunner({ SANDBOX_LEVEL: String(level) });
    const author = await Debugger.at(port);
    try {
      const run = runner.run(code, inspected(author.session, { runtime }));
      expect(await author.hears(({ begun }) => begun)).toEqual({ side: 'reactor', runtime });
      await author.breaksAt(lineOfReturn);
      const { params } = await author.told(({ method }) => method === 'Debugger.paused');
      const [frame] = params?.callFrames ?? [];
      const where = { callFrameId: frame?.callFrameId, expression: 'sum' };
      const { result } = await author.ask('Debugger.evaluateOnCallFrame', where);
      expect(result?.result?.value).toBe(41);
      await author.ask('Debugger.resume');
      expect(await run).toEqual({ kind: 'returned', value: { sum: 41 } });
      await author.hears(({ ended }) => ended);
    } finally {
      author.leave();
      await runner.stop();
    }
  },
);

describe('a runner that lets debuggers in', () => {
  let runner: SpecRunner;
  let port: number;

  beforeAll(async () => {
    ({ runner, port } = await inspectingRunner());
  });
  afterAll(() => runner.stop());

  const sandboxes = (): number =>
    readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').length;
  const isPaused = ({ method }: Message): boolean => method === 'Debugger.paused';

  it('serves one run behind the other for one debugger, with a process each', async () => {
    const author = await Debugger.at(port);
    for (const n of [1, 2, 3]) {
      const from = author.lines.length;
      const run = runner.run(code, inspected(author.session, { args: { n } }));
      await author.hears(({ begun }) => begun, from);
      author.say({ start: true });
      expect(await run).toEqual({ kind: 'returned', value: { sum: 2 * n + 1 } });
      await author.hears(({ ended }) => ended, from);
    }
    author.leave();
  });

  it('ends a run that a debugger holds for too long, and its process', async () => {
    const author = await Debugger.at(port);
    const before = sandboxes();
    const run = runner.run(code, inspected(author.session, { timeoutMs: 3_000 }));
    await author.hears(({ begun }) => begun);
    await author.breaksAt(lineOfReturn);
    await author.told(isPaused);
    expect(await run).toEqual({ kind: 'timed_out' });
    await author.hears(({ ended }) => ended);
    await waitFor(() => sandboxes() <= before);
    author.leave();
  });

  it('ends a run that no debugger starts', async () => {
    const author = await Debugger.at(port);
    const run = runner.run(code, inspected(author.session, { timeoutMs: 1_000 }));
    expect(await run).toEqual({ kind: 'timed_out' });
    author.leave();
  });

  it('ends a run whose debugger leaves, whether it waits or is held', async () => {
    for (const isHeld of [false, true]) {
      const author = await Debugger.at(port);
      const before = sandboxes();
      const run = runner.run(code, inspected(author.session));
      await author.hears(({ begun }) => begun);
      if (isHeld) {
        await author.breaksAt(lineOfReturn);
        await author.told(isPaused);
      }
      author.leave();
      expect(await run).toMatchObject({ kind: 'died' });
      await waitFor(() => sandboxes() <= before);
    }
  });

  it('ends a run that its caller cancels while it is held', async () => {
    const author = await Debugger.at(port);
    const caller = new AbortController();
    const run = runner.run(code, inspected(author.session), { signal: caller.signal });
    await author.hears(({ begun }) => begun);
    await author.breaksAt(lineOfReturn);
    await author.told(isPaused);
    caller.abort();
    expect(await run).toMatchObject({ kind: 'died', reason: 'cancelled' });
    await author.hears(({ ended }) => ended);
    author.leave();
  });

  it('runs nothing for a session that nobody has told, nor a second run at once', async () => {
    const refused = (inspector: string) => ({ kind: 'no_capacity', inspector });
    expect(await runner.run(code, inspected(randomUUID()))).toEqual(refused('not_connected'));
    const author = await Debugger.at(port);
    const run = runner.run(code, inspected(author.session));
    await author.hears(({ begun }) => begun);
    expect(await runner.run(code, inspected(author.session))).toEqual(refused('busy'));
    author.say({ start: true });
    expect(await run).toMatchObject({ kind: 'returned' });
    author.leave();
  });

  it('is not reached by code, whatever EGRESS_ALLOW says', async () => {
    const allowing = await inspectingRunner({ EGRESS_ALLOW: '127.0.0.1:*' });
    const connecting = `module.exports = ({ args }) => new Promise((resolve) => {
      const socket = require('net').connect(args.port, '127.0.0.1', () => resolve({ reached: true }));
      socket.on('error', ({ code }) => resolve({ code })); })`;
    try {
      const run = await allowing.runner.run(connecting, { args: { port: allowing.port } });
      expect(run).toMatchObject({
        kind: 'returned',
        value: { code: expect.any(String) as string },
      });
      // Another port of this machine is reached.
      const open = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
      await once(open, 'listening');
      const { port: other } = open.address() as AddressInfo;
      const reached = await allowing.runner.run(connecting, { args: { port: other } });
      expect(reached).toEqual({ kind: 'returned', value: { reached: true } });
      open.close();
    } finally {
      await allowing.runner.stop();
    }
  });

  it('one tenant leaves a place for another', async () => {
    const authors = await Promise.all([0, 1, 2].map(() => Debugger.at(port)));
    const [one, two, other] = authors as [Debugger, Debugger, Debugger];
    const first = runner.run(code, inspected(one.session));
    await one.hears(({ begun }) => begun);
    const second = runner.run(code, inspected(two.session));
    await two.hears(({ begun }) => begun);
    const third = inspected(other.session);
    expect(await runner.run(code, third)).toEqual({ kind: 'no_capacity', inspector: 'busy' });
    const neighbour = runner.run(code, { ...third, tenantId: 'neighbour' });
    await other.hears(({ begun }) => begun);
    for (const author of authors) author.say({ start: true });
    for (const run of [first, second, neighbour]) {
      expect(await run).toMatchObject({ kind: 'returned' });
    }
    authors.forEach((author) => author.leave());
  });

  it.each([
    ['no session', 'GET / HTTP/1.1\r\n\r\n'],
    ['a short session', '{"session":"a"}\n'],
    ['no JSON', 'nothing\n'],
    ['a line without an end', 'x'.repeat(2_000)],
  ])('closes a connection that says %s', async (_, text) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write(text);
    await once(socket, 'close');
    expect(await runner.run(code, { args: { n: 1 } })).toMatchObject({ kind: 'returned' });
  });

  it('closes a connection that says nothing, and one too many', async () => {
    const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
    await Promise.all(
      sockets.map((socket) => once(socket.on('error', () => undefined).resume(), 'close')),
    );
  });

  it('messages that are none, and a debugger that asks for much, end nothing else', async () => {
    const author = await Debugger.at(port);
    const run = runner.run(code, inspected(author.session));
    await author.hears(({ begun }) => begun);
    expect(await author.ask('No.suchMethod')).toHaveProperty('error');
    const huge = { expression: '"x".repeat(5e6)', returnByValue: true };
    expect(await author.ask('Runtime.evaluate', huge)).toHaveProperty('error');
    author.say({ start: true });
    expect(await run).toMatchObject({ kind: 'returned' });
    const broken = runner.run(code, inspected(author.session));
    await author.hears(({ begun }) => begun, author.lines.length);
    author.say({ message: 'no JSON' });
    expect(await broken).toMatchObject({ kind: 'died' });
    author.leave();
    expect(await runner.run(code, { args: { n: 1 } })).toMatchObject({ kind: 'returned' });
  });

  it('a debugger that does not read loses its run', async () => {
    const author = await Debugger.at(port);
    const run = runner.run(code, inspected(author.session));
    await author.hears(({ begun }) => begun);
    author.socket.pause();
    const params = { expression: '"x".repeat(3e6)', returnByValue: true };
    for (let id = 1; id < 20; id += 1) {
      author.say({ message: JSON.stringify({ id, method: 'Runtime.evaluate', params }) });
    }
    expect(await run).toEqual({ kind: 'died', reason: 'its debugger is gone' });
    author.leave();
    expect(await runner.run(code, { args: { n: 1 } })).toMatchObject({ kind: 'returned' });
  });
});

it('a runner that lets no debugger in says so', async () => {
  const runner = await startSpecRunner();
  try {
    expect(runner.ctx.inspections).toBeUndefined();
    expect(await runner.run(code, inspected(randomUUID()))).toEqual({
      kind: 'no_capacity',
      inspector: 'off',
    });
  } finally {
    await runner.stop();
  }
});
