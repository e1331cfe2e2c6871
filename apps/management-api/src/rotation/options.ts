import { parseArgs } from 'node:util';

export const rotationHelp = `Rotates the master key.

  (nothing)      the newest key of KEY_RING seals from now on; what older ones sealed is sealed anew
  --to VERSION   that key instead of the newest
  --status       says what each key still has to open, and which may be taken out; changes nothing

DATABASE_URL as glovebox_rotation, REDIS_URL, KEY_RING. Every process must have been started with the
new key before. May be interrupted, repeated, and run twice at once.`;

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
    throw new Error(`--to wants the version of a key in KEY_RING, not "${to}"`);
  }
  if (status && to !== undefined) throw new Error('--status changes nothing: leave --to out');
  return { help, status, to: to === undefined ? undefined : Number(to) };
}
