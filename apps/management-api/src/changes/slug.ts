import { applyDecorators } from '@nestjs/common';
import { IsOptional, IsString, Matches } from 'class-validator';
import { Problem } from '@glovebox/problems';
import { TextLength } from '../validation/decorators';
import { touches, type MergePatch } from '../validation/patched-dto';
import { slugMax } from '../validation/resource-limits';

const slugPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** The name of a resource among those of its kind and tenant, as files have it. */
export const Slug = (): PropertyDecorator =>
  applyDecorators(
    IsString(),
    TextLength(1, slugMax),
    Matches(slugPattern, {
      message: 'must be made of a to z, 0 to 9 and -, and begin and end without -',
    }),
  );

export class WithSlug {
  @IsOptional()
  @Slug()
  slug?: string;
}

/**
 * A document without a slug keeps the stored one: clients that know of none send none. A PATCH with
 * null takes it away.
 */
export function slugAfter(
  stored: string | null,
  { slug }: WithSlug,
  patch?: MergePatch,
): string | null {
  if (slug !== undefined) return slug;
  return touches(patch, 'slug') ? null : stored;
}

/** What Postgres says where two resources would have one slug. */
export function slugTaken(error: unknown): Problem | undefined {
  const { code, constraint } =
    (error as { driverError?: Record<string, unknown> }).driverError ?? {};
  if (code !== '23505' || !String(constraint).endsWith('_slug_unique')) return undefined;
  return new Problem('conflict', { detail: 'Another resource of this kind has the slug.' });
}
