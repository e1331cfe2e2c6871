import type { RequestParameter } from '@glovebox/definitions';
import { isJsonObject, type JsonObject } from '@glovebox/wire';
import { valueAt } from './reactor-arguments';

const namesMax = 100;
/** Parts of a name. Deeper members count as one argument. */
const partsMax = 8;
/** Callers choose undeclared names. A card number, a mail address and a sentence are none. */
const usualName = /^[A-Za-z_][\w-]{0,63}$/;

/**
 * The names of the arguments of a run: the declared ones that were sent, or every one where none is
 * declared. A name that may be data itself is `?`. `filled`: the arguments with the data of tokens
 * in them, where it was opened. One token may fill several declared arguments.
 */
export function argumentNames(
  parameters: readonly RequestParameter[],
  sent: Readonly<JsonObject> | string,
  filled: Readonly<JsonObject> = isJsonObject(sent) ? sent : {},
): string[] {
  if (parameters.length === 0) return isJsonObject(sent) ? [...new Set(leaves(sent))] : [];
  return parameters
    .map(({ name }) => name)
    .filter((name) => valueAt(filled, name.split('.')) !== undefined)
    .slice(0, namesMax);
}

function leaves(args: Readonly<JsonObject>): string[] {
  const names: string[] = [];
  const open: { readonly value: unknown; readonly parts: readonly string[] }[] = [
    { value: args, parts: [] },
  ];
  for (let next = open.pop(); next && names.length < namesMax; next = open.pop()) {
    const { value, parts } = next;
    if (!isJsonObject(value) || parts.length === partsMax) {
      names.push(parts.join('.'));
      continue;
    }
    const members = Object.keys(value).slice(0, namesMax).reverse();
    for (const name of members) {
      open.push({ value: value[name], parts: [...parts, usualName.test(name) ? name : '?'] });
    }
  }
  return names;
}
