import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Response } from 'express';
import { Problem } from '@glovebox/problems';
import type { KeyHash } from '@glovebox/seal';

const metadata = 'tagged';

/** Has answers tell the version of the resource in ETag, and If-Match say which one is meant. */
export const Tagged = (): CustomDecorator => SetMetadata(metadata, true);

export const isTagged = (handler: object): boolean =>
  Reflect.getMetadata(metadata, handler) === true;

/** A version of a resource: that of its definition in the log. No two changes leave the same one. */
interface Version {
  readonly id: string;
  readonly version: number;
}

/** What a call says of versions, and is told of them (docs/adr/0098). */
export class EntityTags {
  /** Undefined: every version is meant. */
  readonly #wanted: readonly string[] | undefined;

  constructor(
    private readonly keyHash: KeyHash,
    private readonly response: Response,
    ifMatch: string | undefined,
  ) {
    this.#wanted = ifMatch === undefined ? undefined : readIfMatch(ifMatch);
  }

  /** Call it where the version cannot change any more: the row of the resource is locked. */
  require(now: Version): void {
    if (this.#wanted === undefined || this.#wanted.includes(this.#tagOf(now))) return;
    throw new Problem('precondition_failed', {
      detail: 'The resource is not in a version that If-Match names. Read it again.',
    });
  }

  tell(now: Version): void {
    this.response.setHeader('ETag', this.#tagOf(now));
  }

  #tagOf({ id, version }: Version): string {
    return tagOf(this.keyHash, id, version);
  }
}

/** Versions count the changes of all tenants. A part of a hash tells nothing of them. */
export const tagOf = (keyHash: KeyHash, id: string, version: number | string): string =>
  `"${keyHash(`etag ${id} ${version}`).slice(0, 22)}"`;

const element = /[\t ]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*"))?[\t ]*(?:,|$)/y;

/**
 * Reads If-Match (RFC 9110, 13.1.1). Undefined: `*`, whatever there is. Weak tags are left out, since
 * the comparison is strong. A list may have empty elements, but not those alone.
 */
function readIfMatch(header: string): readonly string[] | undefined {
  if (header.trim() === '*') return undefined;
  const strong: string[] = [];
  let tags = 0;
  for (let at = 0; at < header.length; at = element.lastIndex) {
    element.lastIndex = at;
    const found = element.exec(header);
    if (!found) throw malformed();
    const [, weak, tag] = found;
    if (tag === undefined) continue;
    tags += 1;
    if (weak === undefined) strong.push(tag);
  }
  if (tags === 0) throw malformed();
  return strong;
}

const malformed = (): Problem =>
  new Problem('invalid_request', {
    detail: 'The header If-Match must be * or a list of tags in double quotes.',
  });
