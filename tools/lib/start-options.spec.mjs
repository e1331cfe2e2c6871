import { addresses, asTyped, startOptions, withOptions } from './start-options.mjs';

/** @param {string[]} args */
const read = (...args) => startOptions(args, {});

it('options are read in each of their spellings', () => {
  expect(read()).toEqual({ detach: false, reset: false, port: undefined, allow: [] });
  expect(
    read(
      '--port',
      '18080',
      '--detach',
      '--allow=127.0.0.1:3000,[::1]:443',
      '--allow',
      '10.0.0.0/8:*',
    ),
  ).toEqual({
    detach: true,
    reset: false,
    port: 18080,
    allow: ['127.0.0.1:3000', '[::1]:443', '10.0.0.0/8:*'],
  });
  expect(read('--port=0', '--reset')).toMatchObject({ port: 0, reset: true });
});

it.each([
  [['--prot', '3'], 'Unknown option --prot. Did you mean --port? All options: npm start -- --help'],
  [['--detatch'], 'Unknown option --detatch. Did you mean --detach?'],
  [['--verbose'], 'Unknown option --verbose. All options: npm start -- --help'],
  [['18080'], '"18080" belongs to no option.'],
  [['--detach=no'], '--detach takes no value, but got "no".'],
  [['--port'], '--port needs a value: npm start -- --port 18080'],
  [['--allow', '--detach'], '--allow needs a value: npm start -- --allow 127.0.0.1:3000'],
  [['--port', 'abc'], '--port abc is not a port: give a number from 1 to 65530'],
  [['--port', '70000'], '--port 70000 is not a port'],
  [['--port', '-1'], '--port -1 is not a port'],
  [['--port', '65535'], 'The highest is 65530.'],
  [['--port', '1', '--port', '2'], '--port is given twice: 1 and 2.'],
  [['--allow', 'localhost:3000'], '--allow localhost:3000: write it as 127.0.0.1:3000'],
  [['--allow', 'http://10.0.0.1:80/'], 'write it as 10.0.0.1:80'],
  [['--allow', '3000'], 'a port needs its address: 127.0.0.1:3000'],
  [['--allow', '::1'], 'the port is missing: [::1]:3000, or :* for any'],
  [['--allow', 'example.com:443'], 'Names are not possible.'],
])('%j is refused in words that help', (args, words) => {
  expect(() => read(...args)).toThrow(words);
});

it('an option before the --, which npm takes for itself, is refused and not lost', () => {
  expect(() => startOptions([], { npm_config_detach: 'true' })).toThrow(
    'npm took --detach for itself. Put -- before: npm start -- --detach',
  );
});

it('--port moves the gateway and the management API, and --allow adds to EGRESS_ALLOW', () => {
  const env = { GATEWAY_PORT: '1', OTHER: 'x', EGRESS_ALLOW: '10.0.0.1:80, 127.0.0.1:3000' };
  expect(withOptions(env, read('--port', '18080', '--allow', '127.0.0.1:3000,[::1]:1'))).toEqual({
    OTHER: 'x',
    GATEWAY_PORT: '18080',
    MANAGEMENT_PORT: '18081',
    CONSOLE_PORT: '18084',
    FORWARD_PORT: '18085',
    EGRESS_ALLOW: '10.0.0.1:80,127.0.0.1:3000,[::1]:1',
  });
  const free = { GATEWAY_PORT: '0', MANAGEMENT_PORT: '0', CONSOLE_PORT: '0', FORWARD_PORT: '0' };
  expect(withOptions({}, read('--port', '0'))).toMatchObject(free);
  expect(withOptions(env, read())).toMatchObject({ GATEWAY_PORT: '1' });
});

it('a malformed EGRESS_ALLOW is refused by its name', () => {
  expect(() => withOptions({ EGRESS_ALLOW: 'localhost:80' }, read())).toThrow(
    'EGRESS_ALLOW localhost:80: write it as 127.0.0.1:80',
  );
});

it.each(['127.0.0.1:3000', '10.0.0.0/8:*', '[::1]:443', '[fd00::/8]:*', '0.0.0.0/0:65535'])(
  '%s is taken, as the apps take it',
  (entry) => expect(addresses(entry, '--allow')).toEqual([entry]),
);

it.each([
  ...['localhost:80', 'example.com:443', '10.0.0.1', '10.0.0.1:', '10.0.0.1:0', '10.0.0.1:65536'],
  ...['10.0.0.1:80-90', '10.0.0.0/33:80', '10.0.0:80', '256.0.0.1:80', '::1:443', '[::1]', '*:80'],
  ...['[10.0.0.1]:80', '[fe80::1%eth0]:80', '[::/129]:80', '[::1]/128:80'],
])('%s is refused, as the apps refuse it', (entry) => {
  expect(() => addresses(entry, '--allow')).toThrow(`--allow ${entry}: `);
});

it('options are shown as they are typed', () => {
  expect(asTyped(read('--allow=[::1]:1', '--port=5', '--detach'))).toBe(
    '--detach --port 5 --allow [::1]:1',
  );
});
