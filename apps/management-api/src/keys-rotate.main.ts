import { loadRotationConfig } from './config';
import { createRotationContext } from './rotation/context';
import { describeStatus, keyStatus } from './rotation/key-status';
import { parseRotation, rotationHelp } from './rotation/options';
import { describeRotation, rotateKeys } from './rotation/rotate-keys';
import { runCommand } from './run-command';

void runCommand(async () => {
  const options = parseRotation(process.argv.slice(2));
  if (options.help) return rotationHelp;
  const ctx = createRotationContext(loadRotationConfig(process.env));
  try {
    if (options.status) return describeStatus(await keyStatus(ctx));
    return describeRotation(await rotateKeys(ctx, options.to));
  } finally {
    await ctx.close();
  }
});
