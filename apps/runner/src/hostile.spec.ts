import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimes, type Runtime } from '@glovebox/sandbox';
import { createContext } from './context';
import {
  channelOf,
  launch,
  locateFiles,
  type IsolationLevel,
  type LaunchFiles,
} from './sandbox/launcher';
import { probe } from './sandbox/isolation-levels';
import { silent, specConfig, specLevels, startSpecRunner, type SpecRunner } from './spec-runner';

/**
 * Attempts of hostile code with all of Node at hand, because the gate of `require` is no
 * protection. Level 3 needs bubblewrap on the machine, which a test run in CI insists on.
 */
const folder = mkdtempSync(join(tmpdir(), 'glovebox-hostile-'));
const config = specConfig(folder);
const setups = specLevels.flatMap((level) =>
  runtimes.map((runtime): [IsolationLevel, Runtime] => [level, runtime]),
);

let files: LaunchFiles;
let tcp: Server;
let unix: Server;

beforeAll(async () => {
  chmodSync(folder, 0o777);
  files = locateFiles({ ...config, workDir: folder });
  tcp = createServer().listen(0, '127.0.0.1');
  unix = createServer().listen({ path: join(folder, 'listener'), writableAll: true });
  await Promise.all([once(tcp, 'listening'), once(unix, 'listening')]);
});

afterAll(() => {
  tcp.close();
  unix.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a script of the spec in place of the bootstrap, and returns its frames on fd 3. */
async function runInside(
  level: IsolationLevel,
  runtime: Runtime,
  script: string,
): Promise<{ said: string; signal: string | null }> {
  const file = join(mkdtempSync(join(folder, 'script-')), 'script.js');
  chmodSync(join(file, '..'), 0o755);
  writeFileSync(file, script, { mode: 0o644 });
  const child = launch({
    files: { ...files, probe: file },
    level,
    limits: config.launchLimits,
    runtime,
    script: 'probe',
    stderr: 'pipe',
  });
  let said = '';
  channelOf(child).on('data', (chunk: Buffer) => (said += chunk.toString()));
  channelOf(child).on('error', () => undefined);
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { said, signal };
}

describe.each(setups)('code at level %i on %s', (level, runtime) => {
  const self = `require('fs').readFileSync('/proc/' + process.pid + '/`;
  const attempts: [string, string][] = [
    ['read a file of the system', `fs.readFileSync('/etc/passwd')`],
    ['read the repository', `fs.readFileSync('${__filename}')`],
    ['list a folder', `fs.readdirSync('/tmp')`],
    ['list the processes', `fs.readdirSync('/proc')`],
    ['read the environment of the runner', `fs.readFileSync('/proc/${process.pid}/environ')`],
    ['read the memory of the runner', `fs.openSync('/proc/${process.pid}/mem')`],
    ['read its own environment from /proc', `${self}environ')`],
    ['write its own memory through /proc', `fs.openSync('/proc/self/mem', 'r+')`],
    ['write a file', `fs.writeFileSync('${folder}/written', 'x')`],
    ['write a file of the temp folder', `fs.writeFileSync('/tmp/glovebox-written', 'x')`],
    [
      'write a report',
      `process.report.writeReport('${folder}/report'), fs.statSync('${folder}/report')`,
    ],
    ['make a folder', `fs.mkdirSync('${folder}/made')`],
    ['remove a folder', `fs.rmdirSync('${folder}/victim')`],
    ['rename a file', `fs.renameSync('${folder}/victim', '${folder}/renamed')`],
    ['link a file', `fs.symlinkSync('/etc/passwd', '${folder}/link')`],
    ['change the mode of a file', `fs.chmodSync('${folder}/victim', 0o777)`],
    ['change the times of a file', `fs.utimesSync('${folder}/victim', 1, 1)`],
    ['watch a folder', `fs.watch('${folder}')`],
    ['start a shell', `start('/bin/sh', '-c', 'true')`],
    ['start Node again', `start(process.execPath, '--version')`],
    ['start the dynamic loader', `start('/lib64/ld-linux-x86-64.so.2', '--help')`],
    ['make a user namespace', `start('/usr/bin/unshare', '--user', 'true')`],
    ['signal the runner', `process.kill(${process.pid}, 0)`],
    ['signal its parent', `process.kill(process.ppid, 0)`],
    ['signal everybody', `process.kill(-1, 0)`],
    ['slow the runner down', `os.setPriority(${process.pid}, 19)`],
    ['become root', `process.setuid(0)`],
    ['connect over TCP', `connected(net.connect(port, '127.0.0.1'))`],
    ['connect over TCP to IPv6', `connected(net.connect(port, '::1'))`],
    ['connect to a socket file', `connected(net.connect('${folder}/listener'))`],
    ['connect to an abstract socket', `connected(net.connect('\\0glovebox'))`],
    ['listen on a port', `once(net.createServer().listen(0), 'listening')`],
    ['listen on a socket file', `once(net.createServer().listen('${folder}/s'), 'listening')`],
    ['send over UDP', `datagram()`],
    ['ask the name servers', `require('dns').promises.resolve4('localhost')`],
    ['open the inspector', `(inspector.open(0), inspector.url() || refuse())`],
    ['load a native addon', `process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libm.so.6')`],
  ];

  it('cannot read files, reach the network, signal others or start programs', async () => {
    rmSync(join(folder, 'victim'), { recursive: true, force: true });
    writeFileSync(join(folder, 'victim'), 'x', { mode: 0o666 });
    const script = `
      const fs = require('fs'), net = require('net'), os = require('os'), { once } = require('events');
      const cp = require('child_process');
      const inspector = require('inspector');
      const port = ${(tcp.address() as AddressInfo).port};
      const refuse = () => { throw new Error('refused') };
      const start = (...c) => { const r = cp.spawnSync(c[0], c.slice(1)); if (r.error) throw r.error; return r.status };
      const connected = (s) => once(s, 'connect');
      const datagram = () => new Promise((resolve, reject) => {
        const s = require('dgram').createSocket('udp4').on('error', reject);
        s.send('x', port, '127.0.0.1', (e) => e ? reject(e) : resolve());
      });
      const attempts = { ${attempts.map(([name, code]) => `${JSON.stringify(name)}: async () => (${code})`).join(',\n')} };
      (async () => {
        const succeeded = [];
        for (const [name, attempt] of Object.entries(attempts)) {
          const limit = new Promise((r, reject) => setTimeout(reject, 1000, new Error('no answer')));
          try { await Promise.race([attempt(), limit]); succeeded.push(name); } catch {}
        }
        fs.writeSync(3, JSON.stringify({ tried: Object.keys(attempts).length, succeeded }));
        process.exit();
      })();`;
    const { said } = await runInside(level, runtime, script);
    // Node itself reports on stderr that it could not open a report and an inspector.
    expect(said.slice(said.lastIndexOf('{'))).toBe(
      JSON.stringify({ tried: attempts.length, succeeded: [] }),
    );
    expect(readdirSync(folder)).not.toEqual(expect.arrayContaining(['written', 'report', 'made']));
    expect(existsSync('/tmp/glovebox-written')).toBe(false);
  });

  it('is not root, and finds nothing in its environment', async () => {
    const script = `require('fs').writeSync(3, JSON.stringify({ uid: process.getuid(), env: process.env }))`;
    const { said } = await runInside(level, runtime, script);
    const isRoot = process.getuid?.() === 0;
    const uid = isRoot ? (expect.any(Number) as number) : process.getuid?.();
    expect(JSON.parse(said)).toEqual({ uid: level === 3 ? 65_534 : uid, env: {} });
    expect(JSON.parse(said)).not.toMatchObject({ uid: 0 });
  });

  it('cannot take unlimited memory or threads', async () => {
    const memory = await runInside(
      level,
      runtime,
      `const all = []; try { for (;;) all.push(Buffer.alloc(1 << 20, 1)) } catch {} require('fs').writeSync(3, String(all.length))`,
    );
    // Node either throws an error that code can catch, or crashes.
    const megabytes = /^\d+$/.test(memory.said) ? Number(memory.said) : 0;
    expect(megabytes).toBeLessThan(400);
    const threads = await runInside(
      level,
      runtime,
      `const { Worker } = require('worker_threads'), fs = require('fs');
       let online = 0;
       setTimeout(() => { fs.writeSync(3, ' ' + online); process.kill(process.pid, 'SIGKILL'); process.abort() }, 1500);
       const more = () => { const w = new Worker('setInterval(() => {}, 1000)', { eval: true }); w.on('error', () => {}); w.on('online', () => { online += 1; more() }) };
       more();`,
    );
    expect(Number(threads.said.trim().split(' ').pop()) || 0).toBeLessThan(100);
  });
});

describe.each(specLevels)('a runner at level %i', (level) => {
  let runner: SpecRunner;
  beforeAll(async () => {
    runner = await startSpecRunner({ SANDBOX_LEVEL: String(level) });
  });
  afterAll(() => runner.stop());

  it('finds that every attempt of its probe fails', async () => {
    expect(runner.ctx.level).toBe(level);
    const limits = config.launchLimits;
    expect(await probe({ files, limits, workDir: folder }, level)).toBeUndefined();
  });

  it.each(runtimes)('outlives memory bombs on %s, and serves the next run', async (runtime) => {
    const bombs = [
      'module.exports = () => { const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1)) }',
      'module.exports = () => { let s = "x"; for (;;) s += s + s.length }',
      'module.exports = () => { const all = []; for (;;) all.push(new Array(1 << 20).fill(all.length)) }',
    ];
    const outcomes = await Promise.all(bombs.map((code) => runner.run(code, { runtime })));
    for (const { kind } of outcomes) expect(['died', 'threw']).toContain(kind);
    expect(await runner.run('module.exports = () => ({})', { runtime })).toMatchObject({
      kind: 'returned',
    });
  });

  it('gives code nothing useful behind the global object', async () => {
    const code = `module.exports = () => {
      const p = new Function('return process')();
      const tried = {};
      for (const name of ['binding', '_linkedBinding', 'dlopen', 'kill', 'exit', 'getBuiltinModule']) {
        try { p[name]('fs'); tried[name] = 'done' } catch { tried[name] = 'refused' }
      }
      return { tried, env: { ...p.env }, argv: p.argv.length, main: String(p.mainModule) } }`;
    expect(await runner.run(code)).toEqual({
      kind: 'returned',
      value: {
        tried: {
          binding: 'refused',
          _linkedBinding: 'refused',
          dlopen: 'refused',
          kill: 'refused',
          exit: 'refused',
          getBuiltinModule: 'refused',
        },
        env: {},
        argv: 1,
        main: 'undefined',
      },
    });
  });

  it.each([
    ['bytes that are no frame', `Buffer.alloc(64, 0xff)`],
    ['a frame of a forbidden type', `frame(1, {})`],
    ['a result of a run that is not in flight', `frame(6, { run: 99, kind: 'returned' })`],
    [
      'credit for nothing',
      `Buffer.concat([frame(7, { id: 1, method: 'x' }), frame(13, { stream: 'x' })])`,
    ],
  ])('ends the process, and only that one, when fd 3 carries %s', async (_, bytes) => {
    const other = 'let calls = 0; module.exports = () => ({ calls: ++calls })';
    await runner.run(other, { codeHash: `other ${bytes}` });
    const code = `const frame = (type, head) => { const t = Buffer.from(JSON.stringify(head)); const b = Buffer.alloc(9 + t.length); b.writeUInt32LE(t.length + 5); b[4] = type; b.writeUInt32LE(t.length, 5); t.copy(b, 9); return b };
      module.exports = () => { process._getActiveHandles()[0].write(${bytes}); return new Promise(() => {}) }`;
    expect(await runner.run(code)).toMatchObject({ kind: 'died' });
    expect(await runner.run(other, { codeHash: `other ${bytes}` })).toMatchObject({
      value: { calls: 2 },
    });
  });
});

it('a runner does not start where no isolation holds, unless the operator accepts that', async () => {
  const bare = { ...config, level: '3' as const, bwrap: '/bin/false' };
  await expect(createContext(bare, { logger: silent })).rejects.toThrow(/SANDBOX_ALLOW_WEAK/);
  const accepted = await createContext({ ...bare, allowWeak: true }, { logger: silent });
  expect(accepted.level).toBe(0);
  await accepted.stop();
});
