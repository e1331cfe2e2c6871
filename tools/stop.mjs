// npm stop: ends what npm start left running.
import { descendantsOf, endNow, isAlive, waitUntilGone } from './lib/processes.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { stateFolder } from './lib/repo.mjs';
import { forget, readRunning, stopAll } from './lib/running.mjs';

const help = `
npm stop

Ends everything that npm start runs for this folder and waits until it is gone.`;

await script(help, async () => {
  const { supervisor, processes } = readRunning(stateFolder);
  const family = descendantsOf(processes.map(({ pid }) => pid));
  if (!supervisor && processes.length === 0) {
    forget(stateFolder);
    console.log('Glovebox is not running.');
    return;
  }
  if (supervisor) {
    // It stops its processes in order. If it hangs, the rest is done here.
    process.kill(supervisor.pid, 'SIGTERM');
    await waitUntilGone([supervisor], 60_000);
  }
  await stopAll(processes);
  for (const orphan of family) endNow(orphan);
  const all = [...(supervisor ? [supervisor] : []), ...processes, ...family];
  await waitUntilGone(all, 5000);
  const left = all.filter(isAlive);
  if (left.length > 0) {
    throw new Trouble(`Still running: ${left.map(({ pid }) => pid).join(', ')}`);
  }
  forget(stateFolder);
  console.log(`Stopped ${processes.length} processes; nothing is left running.`);
});
