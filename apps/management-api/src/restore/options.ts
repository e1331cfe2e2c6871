import { parseArgs } from 'node:util';
import { isUuid } from '../validation/uuid';
import help from './options-help.json';

export const restoreHelp = `Accepts a database that was restored or promoted. See docs/backup.md.

${help.join('\n')}

Needs DATABASE_URL as glovebox_owner, REDIS_URL and KEY_RING. Each step may be interrupted and repeated.`;

export interface RestoreOptions {
  readonly action: 'accept' | 'promoted' | 'status' | 'release' | 'fail' | 'end-keys' | 'help';
  readonly isForced: boolean;
  readonly tenantId: string | undefined;
  readonly olderThanMs: number | undefined;
  readonly json: boolean;
}

const actions = ['promoted', 'status', 'release', 'fail', 'end-keys', 'help'] as const;

export function parseRestore(args: string[]): RestoreOptions {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args,
    options: {
      promoted: flag,
      status: flag,
      release: flag,
      fail: flag,
      'end-keys': flag,
      help: flag,
      force: flag,
      json: flag,
      tenant: { type: 'string' },
      'older-than': { type: 'string' },
    },
  });
  const chosen = actions.filter((action) => values[action]);
  if (chosen.length > 1) throw new Error(`--${chosen.join(' and --')} cannot be combined`);
  const action = chosen[0] ?? 'accept';
  const { tenant, 'older-than': age } = values;
  const isDecision = action === 'release' || action === 'fail';
  if (tenant !== undefined && !isUuid(tenant)) throw new Error('--tenant must be an id');
  if (tenant !== undefined && !isDecision && action !== 'end-keys') {
    throw new Error('--tenant goes with --release, --fail or --end-keys');
  }
  if (age !== undefined && !isDecision)
    throw new Error('--older-than goes with --release or --fail');
  if (action === 'end-keys' && tenant === undefined)
    throw new Error('--end-keys needs --tenant ID');
  if (values.force && action !== 'accept' && action !== 'promoted') {
    throw new Error('--force goes with no other option than --promoted');
  }
  return {
    action,
    isForced: values.force,
    tenantId: tenant?.toLowerCase(),
    olderThanMs: age === undefined ? undefined : msOf(age),
    json: values.json,
  };
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function msOf(age: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(age) ?? [];
  const seconds = units[unit];
  if (seconds === undefined) throw new Error('--older-than reads 90s, 30m, 6h or 2d');
  return Number(count) * seconds * 1_000;
}
