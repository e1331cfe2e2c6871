import { parseArgs } from 'node:util';

export const rotationHelp = `Rotates the master key.

  (nothing)      makes the newest key of KEY_RING the sealing key, and reseals what older keys sealed
  --to VERSION   makes that key the sealing key instead of the newest
  --status       lists what each key is still needed for, and which may be removed; changes nothing

Needs DATABASE_URL as glovebox_rotation, REDIS_URL and KEY_RING. Start every process with the new key
first. May be interrupted, repeated, and run twice at once.`;

interface RotationOptions {
  readonly help: boolean;
  readonly status: boolean;
  readonly to: number | undefined;
}

export function parseRotation(args: string[]): RotationOptions {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', default: false },
      status: { type: 'boolean', default: false },
      to: { type: 'string' },
    },
  });
  const { help, status, to } = values;
  if (to !== undefined && !/^[1-9]\d{0,8}$/.test(to)) {
    throw new Error(`--to must be the version of a key in KEY_RING, not "${to}"`);
  }
  if (status && to !== undefined) throw new Error('--status cannot be combined with --to');
  return { help, status, to: to === undefined ? undefined : Number(to) };
}
