import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
} from 'class-validator';
import { parseDestination } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import {
  hasPathParameters,
  matchKeysOf,
  type Definition,
  type ProxyMatch,
} from '@glovebox/definitions';
import { invalid, Problem } from '@glovebox/problems';
import { TextLength } from '../validation/decorators';
import {
  matchedHostsMax,
  matchedPathsMax,
  matchedPatternMax,
  matchKeysMax,
} from '../validation/resource-limits';

export const matchedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export class MatchInput {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(matchedHostsMax)
  @IsString({ each: true })
  @TextLength(1, matchedPatternMax, { each: true })
  hosts!: string[];

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(matchedMethods.length)
  @IsIn(matchedMethods, { each: true })
  @ArrayUnique({ message: 'must not have the same method twice' })
  methods?: string[];

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(matchedPathsMax)
  @IsString({ each: true })
  @TextLength(1, matchedPatternMax, { each: true })
  paths?: string[];
}

/** As it is stored and answered: each pattern in its one spelling. */
export interface StoredMatch {
  hosts: string[];
  methods?: string[];
  paths?: string[];
}

/** Reads a match, or throws what is wrong with it. */
export function toMatch(input: MatchInput | null | undefined): StoredMatch | null {
  if (!input) return null;
  const [methods, paths] = [input.methods ?? [], input.paths ?? []];
  const hosts = spelled(
    'hosts',
    input.hosts,
    hostOf,
    'no host, such as api.example.com or *.example.com:8443',
  );
  const match = {
    hosts,
    ...(methods.length > 0 ? { methods } : {}),
    ...(paths.length > 0
      ? { paths: spelled('paths', paths, pathOf, 'no path, such as /v1/charges') }
      : {}),
  };
  if (matchKeysOf(toMatchDefinition(match)).length > matchKeysMax) {
    throw invalid({
      match: [`must have at most ${matchKeysMax} combinations of hosts, methods and paths`],
    });
  }
  return match;
}

function spelled(
  member: string,
  texts: readonly string[],
  read: (text: string) => string | undefined,
  fault: string,
): string[] {
  const all = texts.map((text, at) => {
    const one = read(text);
    if (one === undefined || one.length > matchedPatternMax)
      throw invalid({ [`match.${member}`]: [`has at position ${at + 1} ${fault}`] });
    return one;
  });
  return [...new Set(all)];
}

function hostOf(text: string): string | undefined {
  const pattern = parseDestination(text);
  return pattern?.segments.length === 0 ? pattern.hosts : undefined;
}

const anyHost = 'host.example';

function pathOf(text: string): string | undefined {
  if (!text.startsWith('/') || hasPathParameters(text)) return undefined;
  const pattern = parseDestination(anyHost + text);
  return pattern && (pattern.text.slice(anyHost.length) || '/');
}

export const toMatchDefinition = ({
  hosts,
  methods = [],
  paths = [],
}: StoredMatch): ProxyMatch => ({
  hosts,
  methods,
  paths,
});

/**
 * Refuses two proxies that would be equally specific for some request. Runs when all of a change is
 * written, under the lock on the head of the log, so that no other change comes between.
 */
export async function refuseEqualMatches(
  sql: Sql,
  tenantId: string,
  definitions: readonly Definition[],
): Promise<void> {
  const keys = definitions.flatMap((one) =>
    one.kind === 'proxy' && one.match ? matchKeysOf(one.match) : [],
  );
  if (keys.length === 0) return;
  // One pass over the keys of the tenant: each is looked up in a hash of the list. `&&` would compare
  // each with each.
  const [shared] = await sql.query<{ ids: string[] }>(
    `SELECT array_agg(id) AS ids FROM proxies, unnest(match_keys) AS held (match_key)
     WHERE tenant_id = $1 AND match_keys <> '{}' AND match_key = ANY($2)
     GROUP BY match_key HAVING count(*) > 1 LIMIT 1`,
    [tenantId, keys],
  );
  if (!shared) return;
  const written = new Set(definitions.map(({ id }) => id));
  const other = shared.ids.find((id) => !written.has(id)) ?? shared.ids[0];
  throw new Problem('conflict', {
    detail:
      `The proxy ${other} matches some of the same requests, and neither match is more ` +
      'specific: change its hosts, paths or methods.',
  });
}
