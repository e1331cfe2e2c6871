import type { ServerResponse } from 'node:http';
import { didYouMean, invalid, isShowableName } from '@glovebox/problems';
import type { JsonObject } from './json-values';
import type { ServiceHeaders } from './service-headers';

const shownNames = 10;
/** Characters of a path in the header. */
const shownPathCharacters = 40;

interface ShownMember {
  /** The names of its parents and its own, all showable. */
  readonly path: readonly string[];
  readonly known: readonly string[];
}

/** Members of a body that nothing reads. Ten are named, where their names are showable. */
export class UnknownMembers {
  readonly #shown: ShownMember[] = [];
  #count = 0;

  /** Notes the members of an object that are not known. `parents` lead to the object. */
  note(object: JsonObject, known: ReadonlySet<string>, parents: readonly string[] = []): void {
    for (const name of Object.keys(object)) {
      if (known.has(name)) continue;
      this.#count += 1;
      if (this.#shown.length === shownNames || !isShowableName(name)) continue;
      // The parents may be names of the caller's own, too.
      const path = parents.every(isShowableName) ? [...parents, name] : [name];
      this.#shown.push({ path, known: [...known] });
    }
  }

  /** Names them in the header of the answer, whatever the answer will be. */
  tell(headers: ServiceHeaders, res: ServerResponse): void {
    if (this.#count === 0) return;
    const named = this.#shown.map(({ path }) => endOf(path));
    const more = this.#more === 0 ? [] : [`+${this.#more}`];
    for (const header of headers.answerSpellingsOf('unknown-members')) {
      res.setHeader(header, [...named, ...more].join(', '));
    }
  }

  /** Refuses the body if there are any. */
  refuse(): void {
    if (this.#count === 0) return;
    const errors = Object.fromEntries(
      this.#shown.map(({ path, known }) => {
        const hint = didYouMean(path.at(-1) ?? '', known);
        return [path.join('.'), [`is not a member${hint}`]] as const;
      }),
    );
    const { body = [], ...named } = errors;
    const more = this.#more === 0 ? [] : [`has ${this.#more} more members that are not known`];
    const ofBody = [...body, ...more];
    throw invalid(ofBody.length === 0 ? named : { ...named, body: ofBody });
  }

  get #more(): number {
    return this.#count - this.#shown.length;
  }
}

/** As much of the end of a path as a name may be long. */
function endOf(path: readonly string[]): string {
  let end = path.at(-1) ?? '';
  for (let at = path.length - 2; at >= 0; at -= 1) {
    const longer = `${path[at]}.${end}`;
    if (longer.length > shownPathCharacters) break;
    end = longer;
  }
  return end;
}
