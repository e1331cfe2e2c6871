import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { invalid } from '@glovebox/problems';
import { tokenFilterOf, type TokenFilter } from '@glovebox/vault';
import { requestOf } from '../http/request';
import { readPage, type PageQuery } from '../lists/listing';
import { Flag, Instant, Json, StringMap, Text, TextList, Whole } from '../validation/fields';

/** What a change may change. The shape alone: what a token may be is for the vault to say. */
export class TokenChange {
  @Json()
  data!: unknown;

  @Json({ optional: true })
  mask?: unknown;

  @TextList({ optional: true })
  containers?: string[];

  @StringMap({ optional: true })
  metadata?: Record<string, string>;

  @TextList({ optional: true })
  search_indexes?: string[];

  @Text({ optional: true })
  fingerprint_expression?: string;

  @Instant({ optional: true })
  expires_at?: string;
}

export class CreateToken extends TokenChange {
  @Text({ optional: true })
  id?: string;

  @Text({ optional: true })
  type?: string;

  @Flag({ optional: true })
  deduplicate_token?: boolean;
}

export class SearchTokens {
  @Text({ max: 4_096 })
  query!: string;

  @Whole({ min: 1, max: Number.MAX_SAFE_INTEGER, optional: true })
  page?: number;

  @Whole({ min: 1, max: 100, optional: true })
  size?: number;
}

export interface TokenListQuery extends PageQuery {
  readonly filter: TokenFilter;
}

export const TokenListing = createParamDecorator((_: unknown, context: ExecutionContext) =>
  readTokenQuery(new URL(requestOf(context).originalUrl, 'http://localhost').searchParams),
);

const metadata = 'metadata.';

export function readTokenQuery(query: URLSearchParams): TokenListQuery {
  const errors: Record<string, string[]> = {};
  const page = readPage(
    query,
    errors,
    (name) => name === 'id' || name === 'type' || name.startsWith(metadata),
  );
  const names = [...new Set(query.keys())].filter((name) => name.startsWith(metadata));
  const wanted = names.map((name) => {
    const [value = '', ...others] = query.getAll(name);
    if (others.length > 0) errors[name] = ['must be given once'];
    return [name.slice(metadata.length), value] as const;
  });
  const filter = tokenFilterOf(
    {
      ids: query.getAll('id'),
      types: query.getAll('type'),
      metadata: Object.fromEntries(wanted),
    },
    errors,
  );
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { ...page, filter };
}
