import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Max,
  Min,
} from 'class-validator';
import { readCursor, type PageQuery } from '@glovebox/database';
import { isTokenId } from '@glovebox/expressions';
import { invalid } from '@glovebox/problems';
import { tokenFilterOf, type TokenFilter } from '@glovebox/vault';
import { queryReadBy } from '../http/request';
import { givenValues, readPage } from '../lists/listing';
import { Destinations } from '../validation/destinations';
import {
  IsAnyJson,
  IsInstant,
  IsStringMap,
  TextLength,
  WithoutNul,
} from '../validation/decorators';
import { listEntriesMax } from '../validation/resource-limits';

/** The members that a PATCH may change. Only their shape is checked here, the rest by the vault. */
export class TokenChange {
  @IsAnyJson()
  data!: unknown;

  @IsOptional()
  @IsAnyJson()
  mask?: unknown;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(listEntriesMax)
  @IsString({ each: true })
  containers?: string[];

  @IsOptional()
  @IsStringMap()
  metadata?: Record<string, string>;

  @IsOptional()
  @Destinations()
  destinations?: string[];

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(listEntriesMax)
  @IsString({ each: true })
  search_indexes?: string[];

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @WithoutNul()
  fingerprint_expression?: string;

  @IsOptional()
  @IsInstant()
  expires_at?: string;
}

export class CreateToken extends TokenChange {
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @WithoutNul()
  id?: string;

  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @WithoutNul()
  type?: string;

  @IsOptional()
  @IsBoolean()
  deduplicate_token?: boolean;
}

export class SearchTokens {
  @IsString()
  @TextLength(1, 4_096)
  @WithoutNul()
  query!: string;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  page?: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  size?: number;

  @IsOptional()
  @IsString()
  after?: string;
}

export function toSearchPage({ page, size = 20, after }: SearchTokens): PageQuery {
  const errors: Record<string, readonly string[]> = {};
  const cursor = readCursor({ after, page }, isTokenId, errors);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { page: page ?? 1, size, after: cursor };
}

export interface TokenListQuery extends PageQuery {
  readonly filter: TokenFilter;
}

export const TokenListing = queryReadBy(readTokenQuery);

const metadata = 'metadata.';

function readTokenQuery(query: URLSearchParams): TokenListQuery {
  const errors: Record<string, string[]> = {};
  const page = readPage(query, errors, isTokenId, ['id', 'type', metadata]);
  const names = [...new Set(query.keys())].filter((name) => name.startsWith(metadata));
  const wanted = names.map((name) => {
    const [value = '', ...others] = query.getAll(name);
    if (others.length > 0) errors[name] = ['must be given once'];
    return [name.slice(metadata.length), value] as const;
  });
  const filter = tokenFilterOf(
    {
      ids: givenValues(query, 'id'),
      types: givenValues(query, 'type'),
      metadata: Object.fromEntries(wanted),
    },
    errors,
  );
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { ...page, filter };
}
