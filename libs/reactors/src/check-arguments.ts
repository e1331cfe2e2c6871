import { valueTemplate } from '@glovebox/expressions';
import { isJsonObject } from '@glovebox/wire';
import { castArguments } from './cast-arguments';
import type { ReactorContext } from './context';
import { readyArguments, useOfTokens, type ArgumentsToCheck } from './invoke-reactor';

/**
 * Makes every check of the arguments that needs no data: expressions, parameters that no token
 * decides on, and what the caller may use. A run that is accepted now opens the data when it
 * starts, and that is the one record of a use. Arguments that are one text are opened: nothing else
 * says whether they are an object.
 */
export async function checkArguments(
  context: Pick<ReactorContext, 'vault'>,
  invocation: ArgumentsToCheck,
): Promise<void> {
  const { args } = invocation;
  if (typeof args === 'string') {
    await readyArguments(context, invocation, 'reactor.accept');
    return;
  }
  const { tokenIds } = valueTemplate(args);
  const decided = invocation.formula.requestParameters.filter(
    ({ name }) => !dependsOnTokens(args, name.split('.')),
  );
  castArguments(decided, args);
  const use = useOfTokens('reactor.accept', invocation);
  await context.vault.foresee(invocation.caller, use, tokenIds);
}

/** True if the value at the path, or an object on the way to it, comes from a token. */
function dependsOnTokens(args: unknown, path: readonly string[]): boolean {
  let value = args;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
    if (typeof value === 'string') return valueTemplate(value).tokenIds.length > 0;
  }
  return false;
}
