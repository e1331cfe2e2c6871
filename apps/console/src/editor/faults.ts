import type { Problem } from '../api-types';
import type { Fault } from './code-mirror';

/** What a problem says of code, at its place. */
export function faultsOf({ errors, position, detail, title }: Problem): Fault[] {
  if (position === undefined) return [];
  const said = Object.values(errors ?? {}).flat();
  return [{ ...position, message: said.join('; ') || detail || title }];
}
