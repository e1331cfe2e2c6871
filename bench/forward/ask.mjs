import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { processorSeconds } from '../lib/processes.mjs';

const client = fileURLToPath(new URL('client.cjs', import.meta.url));

/**
 * Loads a target for one turn. An answer other than 200 makes the turn void.
 *
 * @param {import('../types.js').Intercepting} asked
 * @returns {Promise<import('../types.js').Figures>}
 */
export async function askOnce(asked) {
  const child = spawn('taskset', ['-c', '1', process.execPath, client, JSON.stringify(asked)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  // Its connections are open, and its code is warm.
  await once(child.stdout, 'data');
  const before = processorSeconds(asked.pid);
  child.stdin.end('begin');
  await once(child, 'close');
  const used = processorSeconds(asked.pid) - before;
  const [, requests = 0, seconds = 0] = output.trim().split('\n').map(Number);
  if (!(requests > 0) || used === 0) throw new Error(`A turn of ${asked.name} is void: ${output}`);
  return { requests, perSecond: requests / seconds, perCpuSecond: requests / used };
}
