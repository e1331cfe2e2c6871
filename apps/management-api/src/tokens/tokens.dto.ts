import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { invalid } from '@glovebox/problems';
import { tokenTypes, type TokenFilter } from '@glovebox/vault';
import { requestOf } from '../http/request';
import { readPage, type PageQuery } from '../listing';
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

const idsMax = 1_000;
const metadata = 'metadata.';

export function readTokenQuery(query: URLSearchParams): TokenListQuery {
  const errors: Record<string, string[]> = {};
  const page = readPage(query, errors);
  const ids = query.getAll('id');
  if (!ids.every(isTokenId)) errors.id = ['must be the id of a token'];
  if (ids.length > idsMax) errors.id = [`must be given at most ${idsMax} times`];
  const types = query.getAll('type');
  if (!types.every((type) => tokenTypes.includes(type)))
    errors.type = ['is not a known token type'];
  const names = [...new Set(query.keys())].filter((name) => name.startsWith(metadata));
  const wanted = names.map((name) => {
    const [value = '', ...others] = query.getAll(name);
    if (others.length > 0) errors[name] = ['must be given once'];
    if (`${name}${value}`.includes('\0')) errors[name] = ['must not contain NUL'];
    return [name.slice(metadata.length), value] as const;
  });
  if (wanted.length > 20) errors[metadata] = ['must be given for at most 20 names'];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const filter = { ids: ids.map(normalTokenId), types, metadata: Object.fromEntries(wanted) };
  return { ...page, filter };
}
