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
  if (parameters.length === 0) {
    const leaves = new Leaves();
    if (isJsonObject(sent)) leaves.add(sent, '', 0);
    return leaves.names;
  }
  return parameters
    .map(({ name }) => name)
    .filter((name) => valueAt(filled, name.split('.')) !== undefined)
    .slice(0, namesMax);
}

/** The names of the first members that are no objects, each once. */
class Leaves {
  readonly names: string[] = [];
  #left = namesMax;

  add(object: Readonly<JsonObject>, parents: string, depth: number): void {
    let members = 0;
    for (const member of Object.keys(object)) {
      if (this.#left === 0 || members === namesMax) return;
      members += 1;
      const part = usualName.test(member) ? member : '?';
      const name = depth === 0 ? part : `${parents}.${part}`;
      const value = object[member];
      if (isJsonObject(value) && depth + 1 < partsMax) {
        this.add(value, name, depth + 1);
        continue;
      }
      this.#left -= 1;
      if (!this.names.includes(name)) this.names.push(name);
    }
  }
}
