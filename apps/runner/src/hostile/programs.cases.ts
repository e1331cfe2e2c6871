import type { Runtime } from '@glovebox/sandbox';

/** One attempt. It succeeds without the sandbox, and fails in it. */
export interface Program {
  readonly name: string;
  /** An expression in which `t` are the targets, and all of Node is at hand. */
  readonly code: string;
  /** It is against another process: without the sandbox it takes the same user. */
  readonly sameUser?: true;
  /** Some kernels refuse it to everybody. There is nothing to see without the sandbox then. */
  readonly kernelMayRefuse?: true;
  readonly runtime?: Runtime;
  /** It succeeds at level 2 too. ADR 0004 says why; level 3 ends it. */
  readonly remainsAtLevel2?: true;
}

const reading = (name: string, of: 'runner' | 'sibling', file: string, more = {}): Program => ({
  name: `read ${name} of ${of === 'runner' ? 'the runner' : 'another sandbox'}`,
  code: `fs.readFileSync('/proc/' + t.${of} + '/${file}')`,
  ...more,
});
const sameUser = { sameUser: true } as const;

const ofAProcess = (of: 'runner' | 'sibling'): Program[] => {
  const whose = of === 'runner' ? 'the runner' : 'another sandbox';
  return [
    reading('the memory map', of, 'maps', sameUser),
    reading('the status', of, 'status'),
    reading('the state', of, 'stat'),
    reading('the command line', of, 'cmdline'),
    {
      name: `open the memory of ${whose}`,
      code: `fs.openSync('/proc/' + t.${of} + '/mem')`,
      ...{ sameUser: true, kernelMayRefuse: true },
    },
    {
      name: `list the open files of ${whose}`,
      code: `fs.readdirSync('/proc/' + t.${of} + '/fd')`,
      sameUser: true,
    },
    { name: `signal ${whose}`, code: `process.kill(t.${of}, 'SIGWINCH')`, sameUser: true },
    { name: `slow ${whose} down`, code: `os.setPriority(t.${of}, 5)`, sameUser: true },
  ];
};

const processes: readonly Program[] = [
  {
    name: 'read the environment of the runner',
    code: `mustHold(fs.readFileSync('/proc/' + t.runner + '/environ'))`,
    sameUser: true,
  },
  {
    name: 'read the environment of another sandbox',
    code: `fs.readFileSync('/proc/' + t.sibling + '/environ')`,
    sameUser: true,
  },
  {
    name: 'find the secret in the memory of the runner',
    code: `mustHold(stackOf(t.runner))`,
    ...{ sameUser: true, kernelMayRefuse: true },
  },
  ...ofAProcess('runner'),
  ...ofAProcess('sibling'),
  { name: 'signal its parent', code: `process.kill(process.ppid, 0)`, sameUser: true },
  { name: 'signal everybody', code: `process.kill(-1, 0)` },
  { name: 'list the processes', code: `fs.readdirSync('/proc')` },
  { name: 'read its own environment from /proc', code: `fs.readFileSync('/proc/self/environ')` },
  { name: 'write its own memory through /proc', code: `fs.openSync('/proc/self/mem', 'r+')` },
  { name: 'start a shell', code: `start('/bin/sh', '-c', 'true')` },
  { name: 'start Node again', code: `start(t.node, '--version')` },
  { name: 'start the dynamic loader', code: `start(t.loader, '--help')` },
  { name: 'load a native addon', code: `process.dlopen({ exports: {} }, t.addon)` },
  { name: 'open the inspector', code: `(inspector.open(0), inspector.url() || refuse())` },
];

const files: readonly Program[] = [
  { name: 'read a file of the system', code: `fs.readFileSync('/etc/passwd')` },
  {
    name: 'read a file of the runner',
    code: `fs.readFileSync(t.folder + '/private')`,
    sameUser: true,
  },
  { name: 'list a folder', code: `fs.readdirSync(t.folder)` },
  { name: 'open a folder', code: `fs.opendirSync(t.folder).closeSync()` },
  { name: 'learn the status of a file', code: `fs.statSync(t.folder + '/victim')` },
  { name: 'learn the status of a link', code: `fs.lstatSync(t.folder + '/link')` },
  { name: 'learn that a file exists', code: `fs.accessSync(t.folder + '/victim')` },
  {
    name: 'learn that a file exists by the error of opening it',
    code: `existsByError(t.folder + '/victim')`,
    remainsAtLevel2: true,
  },
  { name: 'learn where a link leads', code: `fs.readlinkSync(t.folder + '/link')` },
  { name: 'learn where its own program is', code: `fs.readlinkSync('/proc/self/exe')` },
  { name: 'learn the real path of a file', code: `fs.realpathSync(t.folder + '/victim')` },
  { name: 'learn the free space of a disk', code: `fs.statfsSync(t.folder)`, runtime: 'node20' },
  {
    name: 'learn the status of a file through a path descriptor',
    code: `fs.fstatSync(fs.openSync(t.folder + '/victim', 0o10000000))`,
  },
  { name: 'enter a folder', code: `process.chdir(t.folder)` },
  { name: 'watch a folder', code: `fs.watch(t.folder).close()` },
  { name: 'write a file', code: `fs.writeFileSync(t.folder + '/written', 'x')` },
  { name: 'write a file of the temp folder', code: `inTempFolder()` },
  { name: 'append to a file', code: `fs.appendFileSync(t.folder + '/victim', 'x')` },
  { name: 'truncate a file', code: `fs.truncateSync(t.folder + '/victim')` },
  {
    name: 'truncate a file that it may read by opening it',
    code: `fs.openSync(t.readable, fs.constants.O_RDONLY | fs.constants.O_TRUNC)`,
  },
  {
    name: 'write a report',
    code: `(process.report.writeReport(t.folder + '/report'), fs.statSync(t.folder + '/report'))`,
  },
  {
    name: 'write a heap snapshot',
    code: `(require('v8').writeHeapSnapshot(t.folder + '/heap'), fs.statSync(t.folder + '/heap'))`,
  },
  { name: 'make a folder', code: `fs.mkdirSync(t.folder + '/made')` },
  { name: 'remove a folder', code: `fs.rmdirSync(t.folder + '/empty')` },
  { name: 'rename a file', code: `fs.renameSync(t.folder + '/from', t.folder + '/to')` },
  { name: 'remove a file', code: `fs.unlinkSync(t.folder + '/gone')` },
  { name: 'copy a file', code: `fs.copyFileSync(t.folder + '/victim', t.folder + '/copy')` },
  { name: 'make a link', code: `fs.linkSync(t.folder + '/victim', t.folder + '/hard')` },
  { name: 'make a symbolic link', code: `fs.symlinkSync('/etc/passwd', t.folder + '/soft')` },
  { name: 'change the mode of a file', code: `fs.chmodSync(t.folder + '/victim', 0o666)` },
  {
    name: 'change the owner of a file',
    code: `fs.chownSync(t.folder + '/victim', process.getuid(), process.getgid())`,
  },
  { name: 'change the times of a file', code: `fs.utimesSync(t.folder + '/victim', 1, 1)` },
];

const network: readonly Program[] = [
  { name: 'connect over TCP', code: `connected(net.connect(t.port, '127.0.0.1'))` },
  { name: 'connect over TCP and IPv6', code: `connected(net.connect(t.port, '::1'))` },
  { name: 'connect to a socket file', code: `connected(net.connect(t.folder + '/listener'))` },
  { name: 'listen on a port', code: `listening(0)` },
  { name: 'listen on a socket file', code: `listening(t.folder + '/own')` },
  { name: 'send over UDP and get the answer', code: `datagram()` },
  { name: 'ask a name server', code: `askNameServer()` },
  { name: 'look up a name', code: `require('dns').promises.lookup('localhost')` },
];

export const programs: readonly Program[] = [...processes, ...files, ...network];

/** Runs every program, each for a limited time, and says its outcome on the channel. */
export function scriptOf(chosen: readonly Program[], limitMs = 5_000): string {
  const attempts = chosen.map(({ name, code }) => `${JSON.stringify(name)}: async () => (${code})`);
  return `
    const fs = require('fs'), net = require('net'), os = require('os'), { once } = require('events');
    const cp = require('child_process'), inspector = require('inspector'), dgram = require('dgram');
    const t = JSON.parse(process.argv[2]);
    const refuse = () => { throw new Error('refused') };
    const mustHold = (bytes) => bytes.includes('RUNNER_SECRET=') || refuse();
    const start = (...c) => { const r = cp.spawnSync(c[0], c.slice(1)); if (r.error) throw r.error; return r.status === 0 || refuse() };
    const connected = (s) => once(s, 'connect').then(() => s.destroy());
    const listening = (where) => { const s = net.createServer().listen(where); return once(s, 'listening').then(() => s.close()) };
    const datagram = () => new Promise((resolve, reject) => {
      const s = dgram.createSocket('udp4').on('error', reject).on('message', resolve);
      s.send('x', t.port, '127.0.0.1', (e) => e && reject(e));
    });
    const askNameServer = () => {
      const resolver = new (require('dns').promises.Resolver)();
      resolver.setServers(['127.0.0.1:' + t.port]);
      return resolver.resolve4('name.example');
    };
    const existsByError = (file) => { try { fs.openSync(file) } catch (e) { if (e.code === 'ENOENT') throw e } };
    const inTempFolder = () => { const f = os.tmpdir() + '/glovebox-hostile-' + process.pid; fs.writeFileSync(f, 'x'); fs.unlinkSync(f) };
    const stackOf = (pid) => {
      const range = /^([0-9a-f]+)-([0-9a-f]+).*\\[stack\\]$/m.exec(fs.readFileSync('/proc/' + pid + '/maps', 'latin1'));
      const [from, to] = [parseInt(range[1], 16), parseInt(range[2], 16)];
      const bytes = Buffer.alloc(to - from);
      fs.readSync(fs.openSync('/proc/' + pid + '/mem'), bytes, 0, bytes.length, from);
      return bytes;
    };
    const attempts = { ${attempts.join(',\n')} };
    fs.writeSync(3, 'ready\\n');
    fs.readSync(3, Buffer.alloc(1));
    (async () => {
      const outcomes = {};
      for (const [name, attempt] of Object.entries(attempts)) {
        const limit = new Promise((r, reject) => setTimeout(reject, ${limitMs}, new Error('no answer')));
        try { await Promise.race([attempt(), limit]); outcomes[name] = 'succeeds' }
        catch (error) { outcomes[name] = 'fails' }
      }
      fs.writeSync(3, JSON.stringify(outcomes));
      process.exit();
    })();`;
}
