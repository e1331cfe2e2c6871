import { bandOf } from '../lib/figures.cjs';

const timeoutMs = 100;
const kills = 10;

const endless = {
  'a loop': 'module.exports = () => { for (;;); }',
  'a promise that stays open': 'module.exports = () => new Promise(() => setInterval(() => {}, 1))',
};

/**
 * The time from the time-out of a run until its process is gone (S7).
 *
 * @param {import('../types.js').SandboxSetting} setting
 */
export async function measureKills({ sandboxes, runtime, row, details }) {
  for (const [what, code] of Object.entries(endless)) {
    const title = `gone after its time-out, ${what}, ${runtime}, level ${sandboxes.level}: sandbox alone`;
    const late = [];
    for (let i = 0; i < kills; i += 1) late.push(await lateness(sandboxes.start(runtime), code));
    details[title] = late;
    console.log(`${title}: ${Math.max(...late).toFixed(1)} ms at most`);
    row('S7', title, bandOf(late), ['≤', 100], ' ms');
  }
}

/**
 * @param {ReturnType<import('../types.js').Sandboxes['start']>} sandbox
 * @param {string} code
 */
async function lateness(sandbox, code) {
  await sandbox.ready;
  const begunAt = performance.now();
  const { kind } = await sandbox.run({ code, timeoutMs });
  if (kind !== 'timed_out') throw new Error(`An endless run ended with ${kind}`);
  await sandbox.exited;
  return performance.now() - begunAt - timeoutMs;
}
