import type { Runtime } from '@glovebox/sandbox';

/** Code of a reactor that wants to harm, and what becomes of its run. */
export interface HostileRun {
  readonly name: string;
  readonly code: string;
  readonly expected: object | ((runtime: Runtime) => object);
  readonly timeoutMs?: number;
}

const returned = { kind: 'returned', value: { fine: true } };
const died = { kind: 'died' };
const timedOut = { kind: 'timed_out' };
const threw = { kind: 'threw' };
/** On a busy machine its time may be over before its memory is. */
const bounded = { kind: expect.stringMatching(/^(threw|died|timed_out)$/) as string };
const fine = 'return { fine: true };';
const never = 'return new Promise(() => {});';

const body = (text: string): string => `module.exports = async () => { ${text} };`;

const frames = `
  const frame = (type, head, value = '') => {
    const text = Buffer.from(JSON.stringify(head)), bytes = Buffer.alloc(9 + text.length);
    bytes.writeUInt32LE(5 + text.length + Buffer.byteLength(value)); bytes[4] = type;
    bytes.writeUInt32LE(text.length, 5); text.copy(bytes, 9);
    return Buffer.concat([bytes, Buffer.from(value)]);
  };
  const write = (bytes) => process._getActiveHandles()[0].write(bytes);`;
/** Code that is expected to go on for ever gets little time. */
const limitOf = (expected: HostileRun['expected']): number =>
  expected === timedOut ? 700 : typeof expected === 'function' ? 2_000 : 5_000;
const forging = (name: string, bytes: string, expected: object = died): HostileRun => ({
  name: `forges ${name}`,
  code: `${frames} ${body(`write(${bytes}); ${never}`)}`,
  expected,
  timeoutMs: limitOf(expected),
});

const forged: readonly HostileRun[] = [
  forging('bytes that are no frame', 'Buffer.alloc(64, 0xff)'),
  forging('a frame of a type that only a runner sends', 'frame(1, {})'),
  forging('a frame of a type that does not exist', 'frame(99, {})'),
  forging('the result of another run', `frame(6, { run: 99, kind: 'returned' })`),
  forging('a result that is no object', `frame(6, { run: 1, kind: 'returned' }, '5')`),
  forging('an outcome that only a runner reports', `frame(6, { run: 1, kind: 'no_capacity' })`),
  forging('a word to a debugger that nobody let in', 'frame(16, {})'),
  forging('the answer of loading, once more', 'frame(4, { ok: true })'),
  forging('credit for nothing', 'frame(13, { stream: "x" })'),
  forging('the head of a frame that never ends', 'Buffer.from([0, 0, 0, 1, 6, 0, 0, 0, 1])'),
  forging('half a frame', 'frame(9, { run: 1 }).subarray(0, 12)', timedOut),
];

/** Harm to its own run alone. The kind of harm depends on what the channel uses of JavaScript. */
const polluting = (
  name: string,
  text: string,
  expected: HostileRun['expected'] = returned,
): HostileRun => ({
  name: `pollutes ${name} before it answers`,
  code: body(`${text}; ${fine}`),
  expected,
  timeoutMs: limitOf(expected),
});
const evil = `() => { throw new Error('polluted') }`;

const pollution: readonly HostileRun[] = [
  polluting('Object.prototype', `Object.prototype.kind = 'no_capacity'; Object.prototype.run = 99`),
  polluting(
    'Object.prototype with setters',
    `for (const name of ['run', 'kind', 'value', 'id', 'ok']) Object.defineProperty(Object.prototype, name, { configurable: true, set() { throw new Error('polluted') } })`,
    (runtime) => (runtime === 'node16' ? timedOut : threw),
  ),
  polluting('Object.prototype.toJSON', `Object.prototype.toJSON = () => ({ forged: true })`, died),
  polluting(
    'Array.prototype',
    `for (const name of ['push', 'map', 'join', 'shift', 'slice']) Array.prototype[name] = ${evil}`,
    threw,
  ),
  polluting('the iterator of arrays', `Array.prototype[Symbol.iterator] = ${evil}`, timedOut),
  polluting(
    'Buffer',
    `for (const name of ['from', 'alloc', 'allocUnsafe', 'concat', 'byteLength']) Buffer[name] = ${evil}`,
    timedOut,
  ),
  polluting(
    'Buffer.prototype',
    `for (const name of ['write', 'writeUInt32LE', 'toString', 'copy', 'subarray']) Buffer.prototype[name] = ${evil}`,
    timedOut,
  ),
  polluting(
    'Promise.prototype',
    `for (const name of ['then', 'catch', 'finally']) Promise.prototype[name] = ${evil}`,
  ),
  polluting('JSON', `JSON.stringify = () => '{"forged":true}'; JSON.parse = ${evil}`),
  polluting(
    'Function.prototype',
    `for (const name of ['call', 'apply', 'bind']) Function.prototype[name] = ${evil}`,
    died,
  ),
  polluting(
    'Map and Set',
    `for (const kind of [Map, Set]) for (const name of ['get', 'set', 'has', 'add', 'delete']) kind.prototype[name] = ${evil}`,
  ),
  polluting(
    'timers',
    `globalThis.setImmediate = globalThis.setTimeout = process.nextTick = ${evil}`,
    threw,
  ),
  polluting(
    'globals',
    `for (const name of ['Object', 'Array', 'Buffer', 'Promise', 'JSON', 'Map', 'Error', 'Number', 'String']) globalThis[name] = undefined`,
    timedOut,
  ),
];

const endless: readonly HostileRun[] = [
  ['loops for ever', 'for (;;);'],
  ['awaits for ever', 'for (;;) await null;'],
  ['awaits turns of the event loop for ever', 'for (;;) await new Promise(setImmediate);'],
  ['queues ticks for ever', `const more = () => process.nextTick(more); more(); ${never}`],
  ['never settles', never],
  ['matches a catastrophic expression', `/^(a+)+$/.test('a'.repeat(60) + '!'); ${fine}`],
  ['waits with Atomics', `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); ${fine}`],
  ['logs for ever', `for (;;) console.log('x'.repeat(1000));`],
].map(([name = '', text = '']) => ({ name, code: body(text), expected: timedOut, timeoutMs: 700 }));

const bombs: readonly HostileRun[] = [
  ['fills the heap', 'const all = []; for (;;) all.push(new Array(1 << 20).fill(all.length));'],
  [
    'fills the heap with text',
    `let s = 'x'; const all = []; for (;;) all.push((s += s.length).repeat(9999).split(''));`,
  ],
  ['fills buffers', 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));'],
  [
    'fills shared memory',
    'const all = []; for (;;) all.push(new Uint8Array(new SharedArrayBuffer(1 << 24)).fill(1));',
  ],
  [
    'fills the memory of WebAssembly',
    `const m = new WebAssembly.Memory({ initial: 1 }); for (;;) { m.grow(256); new Uint8Array(m.buffer).fill(1) }`,
  ],
  [
    'compiles for ever',
    `const all = []; for (let n = 0; ; n++) all.push(new Function('return ' + JSON.stringify('x'.repeat(1e6) + n)));`,
  ],
].map(([name = '', text = '']) => ({ name, code: body(text), expected: bounded }));

const leaving: readonly HostileRun[] = [
  ['a timer', 'setInterval(() => {}, 1);'],
  ['a loop of timers', 'const more = () => setImmediate(more); more();'],
  ['a server', `require('http').createServer().on('error', () => {}).listen(0);`],
  ['a connection that waits', `require('net').connect(9, '192.0.2.1').on('error', () => {});`],
  ['an endless stdin', `process.stdin.resume(); process.stdin.on('data', () => {});`],
  ['a promise that rejects', 'Promise.reject(new Error("left")).catch(() => {});'],
].map(([name = '', text = '']) => ({
  name: `leaves ${name} behind`,
  code: body(`${text} ${fine}`),
  expected: returned,
}));

const ending: readonly HostileRun[] = [
  { name: 'calls process.exit', code: body(`process.exit(0); ${fine}`), expected: threw },
  { name: 'calls process.abort', code: body(`process.abort(); ${fine}`), expected: threw },
  { name: 'calls process.kill', code: body(`process.kill(process.pid); ${fine}`), expected: threw },
  {
    name: 'ends its process by an error that nobody catches',
    code: body(
      `process.removeAllListeners('uncaughtException'); setTimeout(() => { throw new Error('end') }); ${never}`,
    ),
    expected: died,
  },
  {
    name: 'overflows the stack',
    code: body(`const more = () => more() + 1; more(); ${fine}`),
    expected: { kind: 'threw', error: { name: 'RangeError' } },
  },
  {
    name: 'closes its channel',
    code: body(`process._getActiveHandles()[0].destroy(); ${never}`),
    expected: died,
  },
];

const large: readonly HostileRun[] = [
  {
    name: 'returns 100 MB',
    code: body(`return { text: 'x'.repeat(100 * 1024 * 1024) };`),
    expected: { kind: expect.stringMatching(/^(invalid_result|died|timed_out)$/) as string },
  },
  {
    name: 'throws 100 MB',
    code: body(`throw new Error('x'.repeat(100 * 1024 * 1024));`),
    expected: bounded,
  },
  {
    name: 'logs 100,000 lines',
    code: body(`for (let n = 0; n < 1e5; n += 1) console.log('x'.repeat(100)); ${fine}`),
    expected: returned,
    // A machine that is busy with other runs takes long for so many.
    timeoutMs: 60_000,
  },
];

export const hostileRuns = [
  ...[...forged, ...pollution, ...endless, ...bombs],
  ...[...leaving, ...ending, ...large],
];
