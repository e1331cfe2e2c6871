import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { holderOf } from './port-holder.mjs';
import { freePort } from './ports.mjs';
import { useFolder } from './spec-folder.mjs';

const folder = useFolder();

it('the program that has a port is named with its process and folder, not with its arguments', async () => {
  const port = await freePort();
  const listen = `require('net').createServer().listen(${port}, '127.0.0.1', () => console.log(1))`;
  const child = spawn(process.execPath, ['-e', listen, 'pass=word'], { cwd: folder });
  await once(child.stdout, 'data');
  const known = `process ${child.pid} (node in ${folder})`;
  expect(holderOf(port)).toBe(existsSync('/proc/net/tcp') ? known : 'another program');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(holderOf(port)).toBe('another program');
});
