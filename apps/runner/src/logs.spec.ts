import {
  collectLines,
  fewAtOnce,
  specRuntimes,
  startSpecRunner,
  type SpecRunner,
} from './spec-runner';

let runner: SpecRunner;
beforeAll(async () => {
  runner = await startSpecRunner({ SANDBOX_QUEUE_WAIT_MS: '20000' });
});
afterAll(() => runner.stop());

const textsOf = ({ lines }: ReturnType<typeof collectLines>) => lines.map(({ text }) => text);

describe.each(specRuntimes)('the log of a run on %s', (runtime) => {
  it.each<[string, string, string[]]>([
    ['log', `console.log('%s %j', 'a', { b: 1 })`, ['info a {"b":1}']],
    ['info', `console.info('a', [1, 'b'])`, [`info a [ 1, 'b' ]`]],
    ['warn', `console.warn('a')`, ['warn a']],
    ['error', `console.error(new Error('a').message)`, ['error a']],
    ['debug', `console.debug('a')`, ['debug a']],
    ['trace', `console.trace('a %d', 1)`, ['debug Trace: a 1']],
    ['dir', `console.dir({ a: { b: 1 } })`, ['info { a: { b: 1 } }']],
    ['dirxml', `console.dirxml('a')`, ['info a']],
    ['assert', `console.assert(true); console.assert(false, 'a')`, ['error Assertion failed: a']],
    [
      'count',
      `console.count(); console.count(); console.countReset(); console.count()`,
      ['info default: 1', 'info default: 2', 'info default: 1'],
    ],
    [
      'group',
      `console.group('a'); console.log('b\\nc'); console.groupEnd(); console.log('d')`,
      ['info a', 'info   b\n  c', 'info d'],
    ],
    ['clear', `console.clear()`, []],
    ['profile', `console.profile('a'); console.profileEnd('a'); console.timeStamp('a')`, []],
  ])('has what console.%s writes, with its level', async (_, written, expected) => {
    const log = collectLines();
    const outcome = await runner.run(`module.exports = () => { ${written} }`, { runtime }, log);
    expect(outcome).toEqual({ kind: 'returned' });
    expect(log.lines.map(({ level, text }) => `${level} ${text}`)).toEqual(expected);
  });

  it('has the stacks of errors, as far as they are in the code', async () => {
    const log = collectLines();
    const code = `module.exports = function charge() {
      console.error(new Error('a'));
      console.log({ e: Object.assign(new TypeError('b'), { code: 'C' }) }, new Error('d').stack);
    }`;
    await runner.run(code, { runtime }, log);
    expect(textsOf(log)).toEqual([
      'Error: a\n    at charge (reactor.js:2:21)',
      `{
  e: TypeError: b
      at charge (reactor.js:3:38) {
    code: 'C'
  }
} Error: d
    at charge (reactor.js:3:76)`,
    ]);
  });

  it('has the tables of console.table', async () => {
    const log = collectLines();
    await runner.run(`module.exports = () => console.table([{ a: 1 }])`, { runtime }, log);
    const [{ level, text } = { level: '', text: '' }, ...more] = log.lines;
    expect({ level, lines: text.split('\n').length, more }).toEqual({
      level: 'info',
      lines: 5,
      more: [],
    });
    expect(text).toMatch(/\(index\) │ a/);
  });

  it.each(['log({ a })', 'dir([a])', `trace('%o', [a])`, `log('%O', { a })`])(
    'has long strings whole in console.%s',
    async (written) => {
      const log = collectLines();
      const code = `module.exports = () => { const a = 'x'.repeat(20_000); console.${written} }`;
      expect(await runner.run(code, { runtime }, log)).toEqual({ kind: 'returned' });
      expect(textsOf(log).join('')).toContain('x'.repeat(20_000));
      expect(textsOf(log).join('')).not.toContain('more character');
    },
  );

  it('has how long timers ran', async () => {
    const log = collectLines();
    const code = `module.exports = () => { console.time('t'); console.timeLog('t', 'x'); console.timeEnd('t') }`;
    await runner.run(code, { runtime }, log);
    expect(textsOf(log)).toEqual([
      expect.stringMatching(/^t: [\d.]+ms x$/),
      expect.stringMatching(/^t: [\d.]+ms$/),
    ]);
  });

  it('has its lines in their order, with the time of the runner', async () => {
    const log = collectLines();
    const from = Date.now();
    const code = `console.log('load'); Date.now = () => 1;
      module.exports = async () => {
        console.warn('a'); await new Promise((resolve) => setTimeout(resolve, 20)); console.log('b');
      }`;
    await runner.run(code, { runtime }, log);
    expect(textsOf(log)).toEqual(['load', 'a', 'b']);
    const [load = 0, a = 0, b = 0] = log.lines.map(({ at }) => at);
    expect(from).toBeLessThanOrEqual(load);
    expect(load).toBeLessThanOrEqual(a);
    expect(a + 10).toBeLessThan(b);
    expect(b).toBeLessThanOrEqual(Date.now());
  });

  it('has 200 lines whole, and otherwise a last one that says that there were more', async () => {
    const writing = `module.exports = ({ args }) => { for (let i = 0; i < args.lines; i++) console.log(i) }`;
    const whole = collectLines();
    await runner.run(writing, { runtime, args: { lines: 200 } }, whole);
    expect(textsOf(whole)).toEqual(Array.from({ length: 200 }, (_, i) => `${i}`));
    const cut = collectLines();
    await runner.run(writing, { runtime, args: { lines: 1_000 } }, cut);
    expect(cut.lines.slice(0, 200)).toMatchObject(whole.lines.map(({ text }) => ({ text })));
    expect(cut.lines.slice(200)).toEqual([
      { at: expect.any(Number) as number, level: 'warn', text: 'Further lines were dropped.' },
    ]);
  });

  it.each(['x', 'ü', '€', '𝄞'])(
    'ends after 64 KB of %s, with whole characters',
    async (character) => {
      const log = collectLines();
      const code = `module.exports = ({ args }) => { for (let i = 0; i < 10; i++) console.log(args.repeat(20000 / Buffer.byteLength(args))) }`;
      await runner.run(code, { runtime, args: character }, log);
      const bytes = Buffer.byteLength(textsOf(log).join(''));
      expect(bytes).toBeLessThanOrEqual(65_536);
      expect(bytes).toBeGreaterThan(65_536 - 4);
      expect(textsOf(log)).toHaveLength(5);
      expect(textsOf(log).pop()).toBe('Further lines were dropped.');
      expect(textsOf(log).slice(0, 4).join('').replaceAll(character, '')).toBe('');
    },
  );

  it('keeps the beginning of a line that alone is too long', async () => {
    const log = collectLines();
    await runner.run(`module.exports = () => console.log('x'.repeat(1e8))`, { runtime }, log);
    expect(textsOf(log).map((text) => text.length)).toEqual([65_536 - 27, 27]);
  });

  const endings: readonly (readonly [name: string, ending: string, kind: string])[] = [
    ['times out', 'for (;;);', 'timed_out'],
    ['never settles', 'return new Promise(() => {})', 'timed_out'],
    ['dies for want of memory', 'for (const all = [];;) all.push(Array(1e5).fill(0.5))', 'died'],
    [
      'is ended because it breaks the protocol',
      'process._getActiveHandles()[0].write(Buffer.alloc(99, 255)); for (;;);',
      'died',
    ],
    ['throws', 'throw new Error()', 'threw'],
    [
      'ends by an error that nobody handles',
      'setTimeout(() => { throw new Error() }); return new Promise(() => {})',
      'threw',
    ],
  ];

  describe('keeps the lines of a run that', () => {
    let checks: readonly Promise<void>[];
    beforeAll(() => {
      checks = fewAtOnce(endings.length, endings, async ([, ending, kind]) => {
        const log = collectLines();
        const code = `module.exports = () => { console.log('a'); console.error('b'); ${ending} }`;
        const timeoutMs = kind === 'timed_out' ? 2_000 : 40_000;
        expect(await runner.run(code, { runtime, timeoutMs }, log)).toMatchObject({ kind });
        expect(textsOf(log)).toEqual(['a', 'b']);
      });
    });

    it.each(endings.map(([name], n): [string, number] => [name, n]))('%s', (_, n) => checks[n]);
  });

  it('has no lines, counters or indents of another run', async () => {
    const code = `module.exports = async ({ args }) => {
      console.count(); console.group(args.name);
      if (args.name === 'first') setTimeout(() => console.log('left behind'), 20);
      else await new Promise((resolve) => setTimeout(resolve, 60)); }`;
    const first = collectLines();
    const second = collectLines();
    await runner.run(code, { runtime, args: { name: 'first' } }, first);
    await runner.run(code, { runtime, args: { name: 'second' } }, second);
    expect(textsOf(first)).toEqual(['default: 1', 'first']);
    expect(textsOf(second)).toEqual(['default: 1', 'second']);
  });

  it('has the lines of each of many runs at once', async () => {
    const code = `module.exports = async ({ args }) => { for (let i = 0; i < 20; i++) { console.log(args.run); await null } }`;
    const written = await Promise.all(
      ['one', 'two', 'three'].map(async (name) => {
        for (;;) {
          const log = collectLines();
          const { kind } = await runner.run(code, { runtime, args: { run: name } }, log);
          // On a busy machine a process may take too long to start.
          if (kind !== 'no_capacity') return textsOf(log);
        }
      }),
    );
    expect(written).toEqual(['one', 'two', 'three'].map((name) => Array<string>(20).fill(name)));
  });
});

describe('the log of a run has the lines that were written before its end', () => {
  const rawCalls = `const call = (id) => { const t = Buffer.from(JSON.stringify({ id, run: 1, method: 'svc.tokenize' })); const v = Buffer.from('[1]'); const h = Buffer.alloc(9); h.writeUInt32LE(t.length + v.length + 5); h[4] = 7; h.writeUInt32LE(t.length, 5); process._getActiveHandles()[0].write(Buffer.concat([h, t, v])) };`;
  const unanswered = { onCall: () => new Promise<never>(() => undefined) };

  it.each([
    ['times out', 'for (;;);', 'timed_out'],
    [
      'dies',
      `process.removeAllListeners('uncaughtException'); setTimeout(() => { throw new Error('end') }, 20)`,
      'died',
    ],
  ])('and that the runner did not read at once: it %s', async (_, ending, kind) => {
    const log = collectLines();
    // The channel is not read while more calls are open than may be.
    const code = `${rawCalls} module.exports = () => {
      console.log('before'); for (let id = 1; id < 20; id += 1) call(id); console.log('behind');
      setTimeout(() => { console.log('last'); ${ending} }, 100);
      return new Promise(() => {}) }`;
    const more = { svc: true, timeoutMs: kind === 'timed_out' ? 1_000 : 20_000 };
    expect(await runner.run(code, more, { ...log, ...unanswered })).toMatchObject({ kind });
    expect(textsOf(log)).toEqual(['before', 'behind', 'last']);
  });

  it('also when the runner was busy at the time-out', async () => {
    const log = collectLines();
    const busy = (): Promise<never> => {
      const from = performance.now();
      while (performance.now() - from < 1_500);
      return unanswered.onCall();
    };
    const code = `module.exports = ({ svc }) => {
      svc.tokenize(1); setTimeout(() => { console.log('late'); for (;;); }, 200); return new Promise(() => {}) }`;
    const more = { svc: true, timeoutMs: 1_000 };
    expect(await runner.run(code, more, { ...log, onCall: busy })).toEqual({ kind: 'timed_out' });
    expect(textsOf(log)).toEqual(['late']);
  });
});

it('a console that code replaced is its own', async () => {
  const log = collectLines();
  const code = `const { log } = console; console.log = (text) => log('mine', text); module.exports = () => console.log('a')`;
  await runner.run(code, {}, log);
  await runner.run(code, {}, log);
  expect(textsOf(log)).toEqual(['mine a', 'mine a']);
});
