import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { waitFor } from '@glovebox/testing';
import { parseRunnerAddress } from './runner-address';
import { encodeFrame, FrameDecoder, type JsonObject } from '../frames';
import type { RunOutcome } from '../outcome';
import type { RunRequest } from '../run';
import { createRunnerClient, type RunnerClient } from './runner-client';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-client-'));
const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The version that 0.1.0 speaks. */
const firstReleased = 2;
type Greeting = readonly [type: 'READY' | 'HELLO', head: JsonObject];
const ready: Greeting = ['READY', { version: firstReleased }];

type Answer = (socket: Socket, run: number, order: JsonObject) => void;

/** The other end of the wire. It answers each run as the spec wants. */
async function listen(
  name: string,
  answer: Answer,
  greeting: Greeting = ready,
): Promise<{
  url: string;
  greeted: () => number;
  runs: () => number;
  stop: () => Promise<void>;
}> {
  const path = join(folder, name);
  const sockets = new Set<Socket>();
  let greeted = 0;
  let runs = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    const decoder = new FrameDecoder((frame) => {
      if (frame.type === 'HELLO') {
        greeted += 1;
        socket.write(encodeFrame(...greeting));
      } else if (frame.type === 'INVOKE') {
        runs += 1;
        answer(socket, frame.head['run'] as number, frame.head['order'] as JsonObject);
      } else if (frame.type === 'PING') {
        socket.write(encodeFrame('PONG', { id: frame.head['id'], ready: true }));
      }
    });
    socket.on('data', (chunk) => decoder.push(chunk)).on('error', () => undefined);
  }).listen(path);
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  closers.push(() => void (server.listening && stop()));
  return { url: `unix:${path}`, greeted: () => greeted, runs: () => runs, stop };
}

/** A runner in a process of its own. It welcomes every client, answers pings, and answers no run. */
async function startIdleRunner(name: string): Promise<{ url: string; pid: number }> {
  const path = join(folder, name);
  const script = `
    const frame = (type, body) => { const t = Buffer.from(JSON.stringify(body)); const b = Buffer.alloc(9); b.writeUInt32LE(t.length + 5); b[4] = type; b.writeUInt32LE(t.length, 5); return Buffer.concat([b, t]) };
    require('net').createServer((socket) => socket.on('error', () => {}).on('data', (data) => {
      for (let at = 0; at < data.length; at += 4 + data.readUInt32LE(at)) {
        const type = data[at + 4], body = JSON.parse(data.subarray(at + 9, at + 9 + data.readUInt32LE(at + 5)));
        if (type === 1) socket.write(frame(2, { version: ${firstReleased} }));
        if (type === 5) process.stdout.write('invoked\\n');
        if (type === 10) process.stdout.write('cancelled\\n');
        if (type === 11) socket.write(frame(12, { id: body.id, ready: true }));
      }
    })).listen(${JSON.stringify(path)}, () => process.stdout.write('listening\\n'));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  closers.push(() => void child.kill('SIGKILL'));
  said = child.stdout;
  await once(child.stdout, 'data');
  return { url: `unix:${path}`, pid: Number(child.pid) };
}
let said: NodeJS.EventEmitter;

function client(...urls: string[]): RunnerClient {
  const made = createRunnerClient({ urls, secret: 's', connectTimeoutMs: 500 });
  closers.push(() => void made.close());
  return made;
}

const request: RunRequest = {
  kind: 'reactor',
  tenantId: 't',
  resourceId: 'r',
  runtime: 'node20',
  applicationId: null,
  code: '',
  codeHash: 'h',
  isolation: 'warm',
  args: {},
  configuration: {},
  svc: false,
  urgency: 'sync',
  timeoutMs: 1000,
  resultBytesMax: 1000,
};
const hooks = { onCall: () => Promise.reject(new Error('none')) };

const full: Answer = (socket, run) =>
  void socket.write(encodeFrame('RESULT', { run, kind: 'no_capacity' }));
const fine: Answer = (socket, run) =>
  void socket.write(encodeFrame('RESULT', { run, kind: 'returned' }, '{}'));

describe('a client and a runner of another release', () => {
  const outcomeOf = async (greeting: Greeting) => {
    const { url } = await listen('foreign', fine, greeting);
    const told: unknown[] = [];
    const made = createRunnerClient({
      urls: [url],
      secret: 's',
      connectTimeoutMs: 500,
      onForeign: (_, versions) => told.push(versions),
    });
    closers.push(() => void made.close());
    for (let tries = 0; tries < 3; tries += 1) {
      // A refusal is kept for a moment: the client then asks nobody.
      const asked = performance.now();
      await waitFor(() => performance.now() - asked > 200);
      const { kind } = await made.run(request, hooks);
      if (kind === 'returned') return { kind, told };
    }
    return { kind: 'no_capacity', told };
  };

  it('work together where the runner agrees on a version that both speak', async () => {
    expect(await outcomeOf(ready)).toEqual({ kind: 'returned', told: [] });
  });

  it('do not where it answers that it speaks others, which the log hears once', async () => {
    const versions = { lowest: 7, highest: 8 };
    const foreign: Greeting = ['HELLO', { version: 7, ...versions }];
    expect(await outcomeOf(foreign)).toEqual({ kind: 'no_capacity', told: [versions] });
  });

  it('do not where it welcomes in a version that the client does not speak', async () => {
    expect(await outcomeOf(['READY', { version: 7 }])).toEqual({ kind: 'no_capacity', told: [] });
  });
});

describe('a run without the network', () => {
  const off: RunRequest = { ...request, network: false };

  it('is given to no runner of an earlier version, which would let it connect', async () => {
    const { url, runs } = await listen('earlier', fine);
    expect(await client(url).run(off, hooks)).toEqual({
      kind: 'no_capacity',
      runtime: 'not_offered',
    });
    expect(runs()).toBe(0);
  });

  it('says so to a runner that knows it', async () => {
    const orders: JsonObject[] = [];
    const note: Answer = (socket, run, order) => {
      orders.push(order);
      fine(socket, run, order);
    };
    const { url } = await listen('later', note, ['READY', { version: 3 }]);
    const made = client(url);
    expect(await made.run(off, hooks)).toMatchObject({ kind: 'returned' });
    expect(await made.run(request, hooks)).toMatchObject({ kind: 'returned' });
    expect(orders.map(({ network }) => network)).toEqual([false, undefined]);
  });
});

describe('a run whose code may not connect everywhere', () => {
  const reach = ['allowed.test'];

  it('is given to no runner of an earlier version, which would let it connect', async () => {
    const { url, runs } = await listen('unbound', fine);
    const bound = { ...hooks, reach: () => reach };
    expect(await client(url).run(request, bound)).toMatchObject({ kind: 'no_capacity' });
    expect(runs()).toBe(0);
  });

  it('tells a runner that knows it, with the order and with each answer that narrows', async () => {
    const heads: unknown[] = [];
    const path = join(folder, 'bound');
    let now: string[] | undefined;
    const server = createServer((socket) => {
      let run = 0;
      const ask = (id: number) =>
        socket.write(encodeFrame('RPC', { id, run, method: 'svc.x' }, '[]'));
      const decoder = new FrameDecoder((frame) => {
        if (frame.type === 'HELLO') socket.write(encodeFrame('READY', { version: 3 }));
        else if (frame.type === 'INVOKE') {
          run = frame.head['run'] as number;
          heads.push((frame.head['order'] as JsonObject)['reach']);
          ask(1);
        } else if (frame.type === 'RPCRES') {
          const { id, reach } = frame.head;
          heads.push(reach);
          if (id === 1) ask(2);
          else socket.write(encodeFrame('RESULT', { run, kind: 'returned' }, '{}'));
        }
      });
      socket.on('data', (chunk) => decoder.push(chunk)).on('error', () => undefined);
    }).listen(path);
    await once(server, 'listening');
    closers.push(() => void server.close());
    const onCall = (): Promise<unknown> => {
      now = reach;
      return Promise.resolve(1);
    };
    const outcome = await client(`unix:${path}`).run(request, { onCall, reach: () => now });
    expect(outcome).toMatchObject({ kind: 'returned' });
    expect(heads).toEqual([undefined, reach, undefined]);
  });

  it('gets no answer from svc that would narrow it, of a runner of an earlier version', async () => {
    const path = join(folder, 'unbound-answers');
    const answers: unknown[] = [];
    const server = createServer((socket) => {
      let run = 0;
      const decoder = new FrameDecoder((frame) => {
        if (frame.type === 'HELLO') {
          socket.write(encodeFrame('READY', { version: firstReleased }));
        } else if (frame.type === 'INVOKE') {
          run = frame.head['run'] as number;
          socket.write(encodeFrame('RPC', { id: 1, run, method: 'svc.x' }, '[]'));
        } else if (frame.type === 'RPCRES') {
          answers.push(frame.head['ok'], String(frame.value));
          socket.write(encodeFrame('RESULT', { run, kind: 'returned' }, '{}'));
        }
      });
      socket.on('data', (chunk) => decoder.push(chunk)).on('error', () => undefined);
    }).listen(path);
    await once(server, 'listening');
    closers.push(() => void server.close());
    let now: string[] | undefined;
    const onCall = (): Promise<unknown> => {
      now = reach;
      return Promise.resolve('secret');
    };
    await client(`unix:${path}`).run(request, { onCall, reach: () => now });
    expect(answers).toEqual([false, expect.stringContaining('keep the values')]);
  });
});

describe('code that is read when a runner asks for it', () => {
  const asked: Answer = (socket, run) => {
    const decoder = new FrameDecoder((frame) => {
      if (frame.type !== 'RPCRES') return;
      const value = JSON.stringify({ ok: frame.head['ok'], text: frame.value.toString('utf8') });
      socket.write(encodeFrame('RESULT', { run, kind: 'returned' }, value));
    });
    socket.on('data', (chunk) => decoder.push(chunk));
    socket.write(encodeFrame('RPC', { id: 1, run, method: 'runner.code' }));
  };

  it('reaches a runner of the first version, which asks as it always did', async () => {
    const { url } = await listen('asks.sock', asked);
    const code = (): Promise<string> => Promise.resolve('the text');
    expect(await client(url).run({ ...request, code }, hooks)).toEqual({
      ...{ kind: 'returned', value: { ok: true, text: 'the text' } },
    });
  });

  it('is refused with nothing of why where it cannot be read', async () => {
    const { url } = await listen('asks-in-vain.sock', asked);
    const code = (): Promise<string> => Promise.reject(new Error('a secret reason'));
    const outcome = await client(url).run({ ...request, code }, hooks);
    expect(outcome).toMatchObject({ kind: 'returned', value: { ok: false } });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  it('is not read for a run that needs none', async () => {
    let readings = 0;
    const { url } = await listen('warm.sock', fine);
    const code = (): Promise<string> => Promise.resolve(String((readings += 1)));
    expect(await client(url).run({ ...request, code }, hooks)).toMatchObject({ kind: 'returned' });
    expect(readings).toBe(0);
  });
});

describe('a client of several runners', () => {
  it('always sends a key to the same runner, and uses all of them for many keys', async () => {
    const servers = [await listen('k1', fine), await listen('k2', fine), await listen('k3', fine)];
    const several = client(...servers.map(({ url }) => url));
    for (let i = 0; i < 10; i += 1) await several.run(request, hooks);
    expect(servers.map(({ runs }) => runs()).sort()).toEqual([0, 0, 10]);
    for (let i = 0; i < 60; i += 1) await several.run({ ...request, resourceId: `${i}` }, hooks);
    for (const { runs } of servers) expect(runs()).toBeGreaterThan(5);
  });

  it('keeps the runner of each key when one runner leaves, and gives it back its keys when it returns', async () => {
    const names = ['r1', 'r2', 'r3'];
    const servers = await Promise.all(names.map((name) => listen(name, fine)));
    const several = client(...servers.map(({ url }) => url));
    /** The runner that each of 30 keys goes to. */
    const homes = async (): Promise<(string | undefined)[]> => {
      const found: (string | undefined)[] = [];
      for (let i = 0; i < 30; i += 1) {
        const before = servers.map(({ runs }) => runs());
        const outcome = await several.run({ ...request, resourceId: `${i}` }, hooks);
        expect(outcome.kind).toBe('returned');
        found.push(names.find((_, n) => servers[n]?.runs() !== before[n]));
      }
      return found;
    };
    const whole = await homes();
    await servers[0]?.stop();
    // Answers once the connection to the one that left is known to be gone.
    await several.ready();
    const without = await homes();
    expect(without).not.toContain('r1');
    expect(without.filter((name, i) => name !== whole[i])).toHaveLength(
      whole.filter((name) => name === 'r1').length,
    );
    servers[0] = await listen('r1', fine);
    await waitFor(() => several.ready().then(async () => isDeepStrictEqual(await homes(), whole)));
  });

  it('goes to the second choice when the first has no capacity', async () => {
    const a = await listen('c1', full);
    const b = await listen('c2', fine);
    const both = client(a.url, b.url);
    for (let i = 0; i < 20; i += 1) {
      const outcome = await both.run({ ...request, resourceId: `${i}` }, hooks);
      expect(outcome.kind).toBe('returned');
    }
    expect(a.runs()).toBeGreaterThan(0);
  });

  it('goes to the second choice when the first does not answer', async () => {
    const b = await listen('n2', fine);
    const both = client(`unix:${join(folder, 'nobody')}`, b.url);
    for (let i = 0; i < 20; i += 1) {
      const outcome = await both.run({ ...request, resourceId: `${i}` }, hooks);
      expect(outcome.kind).toBe('returned');
    }
    expect(await both.ready()).toBe(true);
  });

  it('finds a runner that is back as soon as no other is left, however long it was away', async () => {
    const left = await listen('o2', fine);
    const both = client(`unix:${join(folder, 'o1')}`, left.url);
    // Each failed attempt doubles the time until the next: after the fifth it is 0.8 s.
    const away = await listen('o1', fine, ['READY', { version: 7 }]);
    await waitFor(async () => (await both.ready()) && away.greeted() >= 5);
    await away.stop();
    await listen('o1', fine);
    await left.stop();
    let outcome = await both.run(request, hooks);
    // Until it has noticed that the other is gone.
    while (outcome.kind === 'died') outcome = await both.run(request, hooks);
    expect(outcome.kind).toBe('returned');
  });

  it('asks a runner that fails at most twenty times a second, however many calls wait for it', async () => {
    const failing = await listen('p1', fine, ['READY', { version: 7 }]);
    const one = client(failing.url);
    const begun = performance.now();
    for (let round = 0; round < 5; round += 1) {
      const calls = Array.from({ length: 50 }, () => one.run(request, hooks));
      const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
      expect(new Set(kinds)).toEqual(new Set(['no_capacity']));
    }
    expect(failing.greeted()).toBeLessThanOrEqual((performance.now() - begun) / 50 + 1);
  });

  it('reports no capacity when no runner has any, and when none answers', async () => {
    const a = await listen('f1', full);
    expect(await client(a.url).run(request, hooks)).toEqual({ kind: 'no_capacity' });
    const nobody = client(`unix:${join(folder, 'nobody')}`);
    expect(await nobody.run(request, hooks)).toEqual({ kind: 'no_capacity' });
    expect(await nobody.ready()).toBe(false);
  });
});

describe('a run that has started', () => {
  it('is not started again when the connection breaks', async () => {
    const breaking: Answer = (socket) => void socket.destroy();
    const a = await listen('b1', breaking);
    const b = await listen('b2', breaking);
    expect(await client(a.url, b.url).run(request, hooks)).toEqual({
      kind: 'died',
      reason: 'runner connection lost',
    });
    expect(a.runs() + b.runs()).toBe(1);
  });

  it('ends when the runner breaks the protocol', async () => {
    const a = await listen('g1', (socket) => void socket.write(Buffer.alloc(64, 0xff)));
    expect((await client(a.url).run(request, hooks)).kind).toBe('died');
  });

  it('leaves later runs a new connection', async () => {
    let first = true;
    const a = await listen('l1', (socket, run, order) => {
      if (first) socket.destroy();
      else fine(socket, run, order);
      first = false;
    });
    const one = client(a.url);
    expect((await one.run(request, hooks)).kind).toBe('died');
    expect((await one.run(request, hooks)).kind).toBe('returned');
  });
});

describe('a runner that restarts', () => {
  it('loses the runs under way, starts none of them twice, and gets later runs', async () => {
    const silent: Answer = () => undefined;
    const first = await listen('z1', silent);
    const one = client(first.url);
    const under = Array.from({ length: 20 }, (_, i) =>
      one.run({ ...request, tenantId: `${i % 3}` }, hooks),
    );
    await waitFor(() => first.runs() === 20);
    await first.stop();
    for (const outcome of await Promise.all(under)) {
      expect(outcome).toEqual({ kind: 'died', reason: 'runner connection lost' });
    }
    const second = await listen('z1', fine);
    await waitFor(async () => (await one.run(request, hooks)).kind === 'returned');
    expect(second.runs()).toBe(1);
  });
});

describe('a runner that reads slowly', () => {
  const large = { text: 'x'.repeat(1024 * 1024) };

  /** A runner that reads nothing until it is told to. It notes the tenants of the runs in their order. */
  async function listenLater(name: string): Promise<{
    url: string;
    tenants: string[];
    read: () => void;
  }> {
    const path = join(folder, name);
    const tenants: string[] = [];
    let accepted: Socket | undefined;
    const server = createServer((socket) => {
      accepted = socket;
      const decoder = new FrameDecoder((frame) => {
        if (frame.type === 'HELLO') {
          socket.pause();
          socket.write(encodeFrame('READY', { version: firstReleased }));
        } else if (frame.type === 'INVOKE') {
          tenants.push(String((frame.head['order'] as JsonObject)['tenantId']));
          fine(socket, frame.head['run'] as number, {});
        }
      });
      socket.on('data', (chunk) => decoder.push(chunk)).on('error', () => undefined);
    }).listen(path);
    await once(server, 'listening');
    closers.push(() => (server.close(), accepted?.destroy()));
    return { url: `unix:${path}`, tenants, read: () => accepted?.resume() };
  }

  it('serves tenants in turn: a small run does not wait behind all large ones of another', async () => {
    const runner = await listenLater('w1');
    const one = client(runner.url);
    const run = (tenantId: string, args: unknown): Promise<unknown> =>
      one.run({ ...request, tenantId, args, timeoutMs: 30_000 }, hooks);
    const all = [run('large', large)];
    await waitFor(() => one.ready().then(() => true));
    for (let i = 0; i < 30; i += 1) all.push(run('large', large));
    all.push(run('small', {}), run('small', {}));
    runner.read();
    await Promise.all(all);
    expect(runner.tenants).toHaveLength(33);
    expect(runner.tenants.indexOf('small')).toBeLessThan(5);
    expect(runner.tenants.lastIndexOf('small')).toBeLessThan(7);
  });

  it('gets no further runs of a tenant for which 128 MiB wait, gets those of others, and all when it has read', async () => {
    const runner = await listenLater('w2');
    const one = client(runner.url);
    const run = (tenantId = 'full'): Promise<RunOutcome> =>
      one.run({ ...request, tenantId, args: large, timeoutMs: 30_000 }, hooks);
    const first = run();
    const outcomes: Promise<RunOutcome>[] = [first];
    await waitFor(() => one.ready().then(() => true));
    for (let i = 0; i < 200; i += 1) outcomes.push(run());
    expect(await outcomes[200]).toEqual({ kind: 'no_capacity' });
    const other = run('other');
    runner.read();
    expect(await other).toMatchObject({ kind: 'returned' });
    const kinds = (await Promise.all(outcomes)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'returned').length).toBeGreaterThan(120);
    expect(kinds.filter((kind) => kind === 'returned').length).toBeLessThan(140);
    expect(await run()).toMatchObject({ kind: 'returned' });
  });
});

describe('a silent runner', () => {
  it('is noticed when its process is stopped, and its run has died', async () => {
    const { url, pid } = await startIdleRunner('s1');
    const one = createRunnerClient({ urls: [url], secret: 's' });
    closers.push(() => void one.close());
    const invoked = once(said, 'data');
    const outcome = one.run({ ...request, timeoutMs: 60_000 }, hooks);
    await invoked;
    const stoppedAt = performance.now();
    process.kill(pid, 'SIGSTOP');
    expect(await outcome).toEqual({ kind: 'died', reason: 'runner connection lost' });
    expect(performance.now() - stoppedAt).toBeLessThan(13_000);
  });

  it('is told from one that answers pings, however long a run lasts', async () => {
    const { url } = await startIdleRunner('s2');
    const one = createRunnerClient({ urls: [url], secret: 's', heartbeatMs: 20, graceMs: 400 });
    closers.push(() => void one.close());
    const startedAt = performance.now();
    await one.run({ ...request, timeoutMs: 100 }, hooks);
    expect(performance.now() - startedAt).toBeGreaterThan(490);
  });

  it('costs a run its time-out and a grace, and gets a cancel', async () => {
    const { url } = await startIdleRunner('s3');
    const one = createRunnerClient({ urls: [url], secret: 's', graceMs: 200 });
    closers.push(() => void one.close());
    const heard: string[] = [];
    said.on('data', (text: Buffer) => heard.push(text.toString()));
    const outcome = await one.run({ ...request, timeoutMs: 100 }, hooks);
    expect(outcome).toEqual({ kind: 'died', reason: 'runner connection lost' });
    while (!heard.join('').includes('cancelled')) await once(said, 'data');
  });
});

describe('a run that nobody waits for', () => {
  const cancelled = { kind: 'died', reason: 'cancelled' };

  it('is never started', async () => {
    const a = await listen('x1', fine);
    expect(await client(a.url).run(request, { ...hooks, signal: AbortSignal.abort() })).toEqual(
      cancelled,
    );
    expect(a.runs()).toBe(0);
  });

  it('ends while the connection is still being made', async () => {
    const path = join(folder, 'x2');
    const server = createServer((socket) => void socket.resume()).listen(path);
    closers.push(() => void server.close());
    await once(server, 'listening');
    const abort = new AbortController();
    const outcome = client(`unix:${path}`).run(request, { ...hooks, signal: abort.signal });
    await once(server, 'connection');
    abort.abort();
    expect(await outcome).toEqual(cancelled);
  });
});

describe('the address of a runner', () => {
  it.each([
    ['unix:/run/runner.sock', { path: '/run/runner.sock' }],
    ['tcp://runner:9000', { host: 'runner', port: 9000 }],
    ['tcp://[::1]:9000', { host: '::1', port: 9000 }],
  ])('%s is understood', (text, address) => {
    expect(parseRunnerAddress(text)).toEqual(address);
  });

  it.each(['', 'unix:relative', 'tcp://host', 'tcp://host:99999', 'http://host:80', 'host:80'])(
    '"%s" is refused',
    (text) => {
      expect(() => parseRunnerAddress(text)).toThrow();
    },
  );
});
