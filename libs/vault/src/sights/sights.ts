import { permissions, type Permission, type Principal, type Transform } from '@glovebox/access';
import { Problem } from '@glovebox/problems';

/**
 * The tokens of one container that an answer shows: who saw them, under which permission, and how
 * much of them. Without ids, the container alone is remembered.
 */
export interface Sight {
  readonly applicationId: string;
  readonly permission: Permission;
  readonly container: string;
  readonly transform: Transform;
  readonly ids?: readonly string[];
  /**
   * When the token of each id was made, in milliseconds since 1970. Another one may take the id
   * later, even before the answer is kept.
   */
  readonly madeAt?: readonly number[];
}

interface SeenToken {
  readonly id: string;
  readonly container: string;
  readonly transform: Transform | null;
  readonly createdAt: Date;
}

interface Seen {
  readonly id: string;
  readonly madeAt: number;
  readonly sight: Sight;
}

/** Tokens that one answer remembers by their id, and containers that it remembers beyond them. */
const rememberedMax = 1_000;
/** No grant covers this container. An answer with more containers is not shown again. */
const tooMany = '*';

const ranks: readonly Transform[] = ['redact', 'mask', 'reveal'];

/** Whether the transform of now shows no less than the one of then. */
export const showsAsMuch = (now: Transform | undefined, then: Transform): boolean =>
  now !== undefined && ranks.indexOf(now) >= ranks.indexOf(then);

/** Remembers what was seen of tokens on the way to an answer, which shows it again when repeated. */
export class Sights {
  readonly #tokens = new Map<string, Seen>();
  readonly #containers = new Map<string, Sight>();

  see(
    { actorId: applicationId }: Principal,
    permission: Permission,
    { id, container, transform, createdAt }: SeenToken,
  ): void {
    const madeAt = createdAt.getTime();
    const sight: Sight = { applicationId, permission, container, transform: transform ?? 'redact' };
    const name = [applicationId, permission, id, madeAt].join(' ');
    const known = this.#tokens.get(name);
    if (known && showsAsMuch(known.sight.transform, sight.transform)) return;
    if (known || this.#tokens.size < rememberedMax) this.#tokens.set(name, { id, madeAt, sight });
    else if (this.#containers.size < rememberedMax) this.#containers.set(nameOf(sight), sight);
    else this.#containers.set(tooMany, { ...sight, container: tooMany });
  }

  list(): Sight[] {
    const sights = new Map<string, Sight & { readonly ids: string[]; readonly madeAt: number[] }>();
    for (const { id, madeAt, sight } of this.#tokens.values()) {
      const known = sights.get(nameOf(sight)) ?? { ...sight, ids: [], madeAt: [] };
      sights.set(nameOf(sight), known);
      known.ids.push(id);
      known.madeAt.push(madeAt);
    }
    return [...sights.values(), ...this.#containers.values()];
  }
}

const nameOf = ({ applicationId, permission, container, transform }: Sight): string =>
  [applicationId, permission, container, transform].join(' ');

const membersOfSight: Readonly<Record<keyof Sight, true>> = {
  applicationId: true,
  permission: true,
  container: true,
  transform: true,
  ids: true,
  madeAt: true,
};

/**
 * Reads stored sights. Null where there are none: nobody knows what the answer shows. What a newer
 * release says of an answer cannot be left out of the decision.
 */
export function parseSights(stored: unknown): readonly Sight[] | null {
  if (!Array.isArray(stored)) return null;
  const sights = stored as readonly Sight[];
  if (sights.every(isUnderstood)) return sights;
  throw new Problem('newer_definition', {
    detail: 'This process is older than the release that stored the answer.',
    retryAfterSeconds: 1,
  });
}

const isUnderstood = (sight: Sight): boolean =>
  ranks.includes(sight.transform) &&
  permissions.includes(sight.permission) &&
  Object.keys(sight).every((member) => Object.hasOwn(membersOfSight, member));
