import { Refused } from '../api';
import type { Problem } from '../api-types';
import type { Fault } from './code-mirror';

/** What a problem says of code, at its place. */
export function faultsOf({ errors, position, detail, title }: Problem): Fault[] {
  if (position === undefined) return [];
  const said = Object.values(errors ?? {}).flat();
  return [{ ...position, message: said.join('; ') || detail || title }];
}

/** What the API has against a member, if that is why it refused. */
export function faultAt(error: Error | null | undefined, ...members: string[]): string | undefined {
  if (!(error instanceof Refused)) return undefined;
  const { errors = {} } = error.problem;
  const said = members.flatMap((member) => errors[member] ?? []);
  return said.length === 0 ? undefined : said.join('; ');
}
