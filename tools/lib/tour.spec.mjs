import { execFileSync } from 'node:child_process';
import { tour } from './tour.mjs';

const dev = {
  baseUrl: 'http://127.0.0.1:8080',
  adminKey: 'key_admin',
  privateKey: 'key_private',
  demoDestination: 'http://127.0.0.1:9000',
};
const commands = tour(dev).map(({ command }) => command);

it('the tour sets its URLs and keys first, and names them nowhere else', () => {
  const [urls, keys, ...rest] = commands;
  expect(urls).toBe(`export BASE_URL=${dev.baseUrl} DEMO_URL=${dev.demoDestination}`);
  expect(keys).toBe(`export ADMIN_KEY=${dev.adminKey} PRIVATE_KEY=${dev.privateKey}`);
  for (const value of Object.values(dev)) expect(rest.join('\n')).not.toContain(value);
});

it('each command of the tour is one line that a POSIX shell can read', () => {
  for (const command of commands) {
    expect(command).not.toContain('\n');
    execFileSync('sh', ['-n', '-c', command]);
  }
});

it('each body of the tour is JSON once the shell has put its variables in', () => {
  const bodies = commands.flatMap((command) => /-d ('.*?')(?= \||;|$|\))/.exec(command)?.[1] ?? []);
  expect(bodies).toHaveLength(7);
  for (const body of bodies) {
    const text = execFileSync('sh', ['-c', `printf %s ${body}`], { encoding: 'utf8' });
    expect(JSON.parse(text)).toBeInstanceOf(Object);
  }
});

it('the tour takes ids and keys out of answers by programs that a bare machine has', () => {
  const [, idOf = ''] = /\| (node -p '.*?')\)/.exec(commands[2] ?? '') ?? [];
  const output = execFileSync('sh', ['-c', idOf], { input: '{"id":"some-id"}', encoding: 'utf8' });
  expect(output).toBe('some-id\n');
});
