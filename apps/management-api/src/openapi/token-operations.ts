import { filterIdsMax, filterTypesMax, tokenTypes } from '@glovebox/vault';
import { TokenChange } from '../tokens/tokens.dto';
import { exampleOf } from './answer-examples';
import { page } from './list-queries';
import type { OperationText } from './operation-text';
import { json, oneOf, ref, text } from './schema';

const forPages =
  'Pages in browsers may call it with a key of a public application whose `allowed_origins` lists ' +
  'them: the answer then has `Access-Control-Allow-Origin`. A page that is not listed gets 403.';

export const tokenOperations: Readonly<Record<string, OperationText>> = {
  'POST /tokens': {
    id: 'createToken',
    summary: 'Create a token',
    description:
      'With `deduplicate_token`, the answer is an existing token with the same fingerprint, if ' +
      'the caller may read one. ' +
      forPages,
    answer: 'CreatedToken',
    otherwise: {
      status: 200,
      description: 'A token with the same fingerprint exists',
      answer: 'Token',
    },
    errors: ['conflict', 'data_gone'],
    body: {
      type: 'card',
      data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 },
      metadata: { order: '7' },
      search_indexes: ['{{ data.number | last4 }}'],
    },
  },
  'GET /tokens': {
    id: 'listTokens',
    summary: 'List the tokens that a permission or rule covers, the newest first',
    description:
      'The tokens of a page hold at most 10 MiB and 200,000 values. On 413, use a smaller `size`.',
    answer: 'TokenPage',
    errors: ['payload_too_large'],
    query: {
      ...page,
      id: {
        description: 'Only tokens with this id. Repeat it for several.',
        schema: text,
        many: filterIdsMax,
      },
      type: {
        description: 'Only tokens of this type. Repeat it for several.',
        schema: oneOf(tokenTypes),
        many: filterTypesMax,
      },
      'metadata.NAME': {
        description: 'Only tokens whose metadata has this value under NAME.',
        schema: text,
      },
    },
  },
  'POST /tokens/search': {
    id: 'searchTokens',
    summary: 'Search the tokens that a permission or rule covers, the newest first',
    description:
      '`field:value` joined by AND, OR, NOT and parentheses; values with spaces or signs in ' +
      'quotes. Fields: `data` (the values of `search_indexes`), `id`, `type`, `fingerprint`, ' +
      '`container` (with `*` at the end: all below), `metadata.NAME`. At most 20 terms. Pages ' +
      'have the limits of a list.',
    answer: 'TokenPage',
    errors: ['data_gone'],
    body: { query: 'data:4242 AND (type:card OR container:/pci/*)', page: 1, size: 20 },
  },
  'GET /tokens/{id}': { id: 'getToken', summary: 'Get a token', answer: 'Token' },
  'PATCH /tokens/{id}': {
    id: 'patchToken',
    summary: 'Change members of a token',
    description:
      'Mask, fingerprint and indexes are computed again. New expressions over unchanged data ' +
      'need a rule that reveals under this permission. A move to another container needs the ' +
      'permission on both containers, and the new one may not show the caller more. ' +
      forPages,
    patches: TokenChange,
    answer: 'Token',
    errors: ['destination_not_allowed'],
    body: { metadata: { order: null, customer: '12' }, expires_at: '2030-01-31T12:00:00Z' },
  },
  'DELETE /tokens/{id}': { id: 'deleteToken', summary: 'Delete a token' },
  'POST /tokenize': {
    id: 'tokenize',
    summary: 'Create tokens from a document, all or none',
    description:
      'At most 1,000 tokens, from a document of at most 100,000 values. Strings, numbers and ' +
      'booleans become ids of tokens. Objects with `data` and a known `type` become tokens. null ' +
      'and the shape of everything else stay. ' +
      forPages,
    takes: json,
    answer: json,
    errors: ['conflict', 'data_gone'],
    shows: {
      name: 'c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11',
      card: exampleOf(ref('CreatedToken')),
    },
    body: { name: 'Ada', card: { type: 'card', data: { number: '4242424242424242' } } },
  },
  'POST /detokenize': {
    id: 'detokenize',
    summary: 'Replace the expressions of a document, all or none',
    description:
      'At most 1,000 expressions and 100 tokens, which hold at most 10 MiB and 200,000 values ' +
      'together. The document has at most 10 MiB of JSON, before and after. The permission or ' +
      'rule decides whether data or mask replaces an expression.',
    takes: json,
    answer: json,
    errors: ['invalid_expression', 'unknown_token', 'data_gone'],
    shows: { to: 'Ada', last4: '4242' },
    body: { to: '{{ name }}', last4: '{{ card | json: "$.number" | last4 }}' },
  },
};
