import { plain, Terminal } from './terminal';

interface Settings {
  readonly isTTY?: boolean;
  readonly json?: boolean;
  readonly colour?: boolean;
}

function painted(env: Record<string, string>, settings: Settings = {}): boolean {
  const { isTTY = true, json = false, colour = true } = settings;
  const stream = { isTTY } as NodeJS.WriteStream;
  return new Terminal(stream, stream, { json, colour }, env).paint('red', 'x') !== 'x';
}

it('colours are for terminals, unless the user says otherwise', () => {
  expect(painted({})).toBe(true);
  expect(painted({}, { isTTY: false })).toBe(false);
  expect(painted({ FORCE_COLOR: '1' }, { isTTY: false })).toBe(true);
  expect(painted({ FORCE_COLOR: '0' })).toBe(false);
  expect(painted({ NO_COLOR: '1' })).toBe(false);
  expect(painted({ TERM: 'dumb' })).toBe(false);
  expect(painted({ FORCE_COLOR: '1' }, { colour: false })).toBe(false);
  expect(painted({ FORCE_COLOR: '1' }, { json: true })).toBe(false);
});

it('each output has colours where it is a terminal itself', () => {
  const [shown, piped] = [true, false].map((isTTY) => ({ isTTY }) as NodeJS.WriteStream);
  const settings = { json: false, colour: true };
  const toPipe = new Terminal(piped as never, shown as never, settings, {});
  expect(toPipe.paint('red', 'x')).toBe('x');
  expect(toPipe.paintSaid('red', 'x')).toBe('\x1b[31mx\x1b[39m');
  const toFile = new Terminal(shown as never, piped as never, settings, {});
  expect(toFile.paint('red', 'x')).toBe('\x1b[31mx\x1b[39m');
  expect(toFile.paintSaid('red', 'x')).toBe('x');
});

it('text of others cannot move the cursor, change the title or turn its direction', () => {
  expect(plain('a\x1b[2Jb\x1b]0;title\x07c')).toBe('abc');
  expect(plain('one\ntwo\tthree')).toBe('one\ntwo\tthree');
  expect(plain('\u202eevil\rover\x9b')).toBe('\\u202eevil\\u000dover\\u009b');
});
