import { loadRestoreConfig } from './config';
import { afterRestore } from './restore/after-restore';
import { createRestoreContext } from './restore/context';
import { describeRestored } from './restore/describe-restored';
import { parseRestore, restoreHelp } from './restore/options';
import { runCommand } from './run-command';

void runCommand(async () => {
  const { json, ...options } = parseRestore(process.argv.slice(2));
  if (options.action === 'help') return restoreHelp;
  const ctx = await createRestoreContext(loadRestoreConfig(process.env));
  try {
    const restored = await afterRestore(ctx, options);
    if (restored.endedKeys?.newerApplications.length) process.exitCode = 1;
    return json ? JSON.stringify(restored) : describeRestored(restored);
  } finally {
    await ctx.close();
  }
});
