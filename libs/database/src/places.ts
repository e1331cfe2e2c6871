import { createHash } from 'node:crypto';
import { Problem } from '@glovebox/problems';

/** The place of an entry in a list. */
export interface Entry {
  readonly id: string;
  readonly at: Date;
}

/** A part of a list: from this many entries behind one of them, or behind the beginning. */
export interface Part {
  readonly after?: Entry | undefined;
  readonly skipped: number;
  readonly limit: number;
}

export type Find = (part: Part) => Promise<readonly Entry[]>;

/** A list of a tenant. `asked` tells it from all others. */
export interface ListName {
  readonly tenantId: string;
  readonly asked: unknown;
}

/** No page reads past more entries than this, if the place before it is known. */
const strideEntries = 50_000;
const listPlacesMax = 1_000;
const placesKeptMs = 60_000;
const placedListsMax = 128;
const tenantPlacedListsMax = 4;
const walkMs = 10_000;

interface KeptList {
  readonly tenantId: string;
  readonly until: number;
  /** Every 50,000th entry. */
  readonly places: Entry[];
}

/**
 * Remembers places far behind the beginning of lists for a minute. The first page behind one walks
 * there in strides, each a statement of its own, and those that follow begin at the last place before them.
 */
export class Places {
  readonly #lists = new Map<string, KeptList>();

  /** Finds entries that many behind the beginning. */
  async find(list: ListName, before: number, limit: number, find: Find): Promise<readonly Entry[]> {
    const strides = Math.min(Math.floor(before / strideEntries), listPlacesMax);
    if (strides === 0) return find({ skipped: before, limit });
    const { places } = this.#keptList(list);
    const until = performance.now() + walkMs;
    for (let at = places.length; at < strides; at += 1) {
      if (performance.now() > until) throw tooFar();
      const [place] = await find({ after: places[at - 1], skipped: strideEntries - 1, limit: 1 });
      if (!place) return [];
      places[at] = place;
    }
    return find({ after: places[strides - 1], skipped: before - strides * strideEntries, limit });
  }

  #keptList({ tenantId, asked }: ListName): KeptList {
    const name = createHash('sha256')
      .update(JSON.stringify([tenantId, asked]))
      .digest('base64');
    const now = performance.now();
    for (const [other, { until }] of this.#lists) if (until <= now) this.#lists.delete(other);
    const known = this.#lists.get(name);
    if (known) return known;
    const own = [...this.#lists].filter(([, list]) => list.tenantId === tenantId);
    if (own.length >= tenantPlacedListsMax) this.#lists.delete(own[0]?.[0] ?? '');
    const [oldest = ''] = this.#lists.keys();
    if (this.#lists.size >= placedListsMax) this.#lists.delete(oldest);
    const made: KeptList = { tenantId, until: now + placesKeptMs, places: [] };
    this.#lists.set(name, made);
    return made;
  }
}

const tooFar = (): Problem =>
  new Problem('service_unavailable', {
    detail: `The page is too far behind to be found within ${walkMs / 1_000} s. Asking again goes on from there. Or walk by \`after\`.`,
    retryAfterSeconds: 1,
  });
