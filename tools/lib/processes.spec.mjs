import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  descendantsOf,
  identify,
  isAlive,
  run,
  startService,
  stopService,
  waitUntilReady,
} from './processes.mjs';
import { lock, readRunning, Running } from './running.mjs';
import { useFolder } from './spec-folder.mjs';

const folder = useFolder();

/** @param {string} script */
function startShell(script) {
  return startService({
    name: 'shell',
    command: '/bin/sh',
    args: ['-c', script],
    env: { PATH: process.env.PATH },
    logFile: join(folder, 'shell.log'),
  });
}

describe('a command', () => {
  it('is run to its end: its code and all of its output are known', async () => {
    const ran = await run('/bin/sh', ['-c', 'echo out; echo err >&2; exit 3']);
    expect(ran).toMatchObject({ code: 3, timedOut: false });
    expect(ran.output.split('\n').sort()).toEqual(['', 'err', 'out']);
  });

  it('that does not exist fails as in a shell', async () => {
    expect(await run('/nonexistent', [])).toMatchObject({ code: 127 });
  });

  it('that takes too long is ended with its children', async () => {
    const ran = await run('/bin/sh', ['-c', 'sleep 60 & echo $!; wait'], { timeoutMs: 300 });
    expect(ran).toMatchObject({ code: 124, timedOut: true });
    const child = identify(Number(ran.output));
    expect(child.startedAt).toBe('');
  });
});

describe('a service', () => {
  it('that ends before it is ready is reported with its last words', async () => {
    const service = startShell('echo the reason; exit 4');
    const ready = waitUntilReady(service, () => Promise.resolve(false));
    await expect(ready).rejects.toThrow(/shell ended \(code 4\).*shell\.log:\nthe reason$/s);
  });

  it('that is never ready is given up after the time limit', async () => {
    const service = startShell('exec sleep 60');
    const ready = waitUntilReady(service, () => Promise.resolve(false), { timeoutMs: 50 });
    await expect(ready).rejects.toThrow('shell was not ready after 0.05 s.');
    await stopService(service);
    expect(isAlive(service)).toBe(false);
  });

  it('that ignores the signal is killed with all that descends from it', async () => {
    const service = startShell("trap '' TERM; sleep 60 & sleep 60 & touch ready; wait; sleep 60");
    const family = async () => descendantsOf([service.pid]).length === 2;
    await waitUntilReady(service, family);
    const children = descendantsOf([service.pid]);
    await stopService(service, { graceMs: 100 });
    expect([service, ...children].filter(isAlive)).toEqual([]);
  });

  it('of an earlier pid is not taken for a live one', () => {
    const self = identify(process.pid);
    expect(isAlive(self)).toBe(true);
    expect(isAlive({ ...self, startedAt: 'another time' })).toBe(false);
  });
});

describe('the list of processes of a state folder', () => {
  it('is written down at once, and read as long as it lives', async () => {
    const running = new Running(folder, { supervised: true });
    const service = startShell('exec sleep 60');
    running.add(service);
    const { processes, supervisor } = readRunning(folder);
    expect(processes).toEqual([{ name: 'shell', pid: service.pid, startedAt: service.startedAt }]);
    expect(supervisor).toEqual(identify(process.pid));
    await stopService(service);
    expect(readRunning(folder).processes).toEqual([]);
  });

  it('takes no further process once it is stopped', async () => {
    const running = new Running(folder, { supervised: true });
    await running.stop();
    const late = startShell('exec sleep 60');
    expect(() => running.add(late)).toThrow('Interrupted.');
    await stopService(late);
    expect(isAlive(late)).toBe(false);
  });

  it('is locked against a second start, but not by a start that has died', async () => {
    const unlock = lock(folder);
    expect(() => lock(folder)).toThrow(`Another npm start (process ${process.pid}) is at work`);
    unlock();
    expect(existsSync(join(folder, 'lock'))).toBe(false);
    const child = spawn('/bin/true');
    const dead = identify(child.pid ?? 0);
    await once(child, 'exit');
    writeFileSync(join(folder, 'lock'), JSON.stringify(dead));
    lock(folder)();
    expect(existsSync(join(folder, 'lock'))).toBe(false);
    expect(readFileSync(join(folder, 'shell.log'), 'utf8')).toContain('the reason');
  });
});
