import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bandOf } from '../lib/figures.cjs';
import { descendantsOf } from '../lib/processes.mjs';
import { until } from '../lib/waiting.mjs';
import { startEcho } from './forks.mjs';

const restMs = 1_000;
const runs = 1_000;
const genericCount = 2;
const kibibytesPerMebibyte = 1024;

/**
 * Private memory of idle processes (S6). There are always two with the same program: the pages of one
 * alone would all be private.
 *
 * @param {import('../types.js').SandboxSetting} setting
 */
export async function measureIdleMemory({ sandboxes, runtime, row, details }) {
  const at = `${runtime}, level ${sandboxes.level}`;
  /** @type {(what: string, pids: readonly number[], bound?: import('../types.js').Bound) => void} */
  const add = (what, pids, bound) => {
    const sizes = pids.map(privateMebibytes);
    details[what] = sizes;
    console.log(`${what}: ${sizes.map((size) => size.toFixed(1)).join(', ')} MiB`);
    row('S6', what, bandOf(sizes), bound, ' MiB');
  };
  await until(() => sandboxesOf(runtime).length === genericCount, { what: 'sandboxes in stock' });
  await sleep(restMs);
  add(`private, of a generic process, ${at}`, sandboxesOf(runtime), ['≤', 15]);
  for (let run = 0; run < runs; run += 1) await sandboxes.run({ runtime });
  // The pool stops an idle process, and nothing else does.
  const stopped = () => sandboxesOf(runtime).filter(isStopped);
  await until(() => stopped().length > 0, { what: 'the process that served' });
  add(`private, of one that has served ${runs} runs, ${at}`, stopped());
  const node = sandboxes.nodeOf(runtime);
  const bare = await Promise.all([startEcho(node), startEcho(node)]);
  await sleep(restMs);
  add(
    `private, of a bare fork, ${runtime}`,
    bare.map(({ pid }) => pid),
  );
  await Promise.all(bare.map((fork) => fork.end()));
}

/**
 * The processes of sandboxes under this one, without the programs that start them.
 *
 * @param {import('../types.js').Runtime} runtime
 */
const sandboxesOf = (runtime) =>
  descendantsOf(process.pid).filter((pid) => readlinkSync(`/proc/${pid}/exe`).includes(runtime));

/** @param {number} pid */
const isStopped = (pid) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

/** @param {number} pid */
function privateMebibytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const sizes = [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)];
  return sizes.reduce((sum, [, size]) => sum + Number(size), 0) / kibibytesPerMebibyte;
}
