import { destinationCharactersMax, destinationsMax } from '@glovebox/access';
import { searchIndexesMax, tokenTypes } from '@glovebox/vault';
import {
  containerMax,
  containerPath,
  mapMembersMax,
  mapValueMax,
} from '../validation/resource-limits';
import { listOf, mapOf, oneOf, text, type Schema } from './schema';

const expression: Schema = { ...text, maxLength: 4_096 };

/** Members of a token that the vault checks, wherever it is made. */
export const tokenMembers = {
  type: oneOf(tokenTypes),
  containers: listOf({ ...text, maxLength: containerMax, pattern: containerPath.source }, 1),
  metadata: { ...mapOf({ ...text, maxLength: mapValueMax }), maxProperties: mapMembersMax },
  destinations: {
    ...listOf({ ...text, maxLength: destinationCharactersMax }, destinationsMax),
    minItems: 1,
  },
  search_indexes: listOf(expression, searchIndexesMax),
  fingerprint_expression: expression,
} as const;

/** An id of the caller's own. */
export const tokenId: Schema = {
  ...text,
  minLength: 3,
  maxLength: 400,
  pattern: '^[^\\s#/\\\\+?\\[\\]|&=%<>{}^]+$',
};
