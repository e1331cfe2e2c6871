import type { Sealer } from '@glovebox/seal';
import type { KeyedHashes } from './fingerprints';
import type { SealedRow } from './statements/token-rows';
import { toStoredOptions } from './stored-options';
import { placeOf } from './token';
import type { ValidToken } from './valid-token';

/** Seals or hashes everything of the token that is confidential. */
export async function sealRow(
  sealer: Sealer,
  hashes: KeyedHashes,
  tenantId: string,
  token: ValidToken,
): Promise<SealedRow> {
  const { id, isNamed, type, container, metadata, destinations, expiresAt, options } = token;
  const seal = (column: 'data' | 'mask' | 'options', text: string): Promise<Buffer> =>
    sealer.seal(placeOf(tenantId, id, column), text);
  const hasOptions = Object.keys(options).length > 0;
  return {
    id,
    isNamed,
    type,
    container,
    metadata: JSON.stringify(metadata),
    destinations,
    expiresAt,
    data: await seal('data', token.text),
    mask: token.mask === undefined ? null : await seal('mask', JSON.stringify(token.mask)),
    options: hasOptions ? await seal('options', JSON.stringify(toStoredOptions(options))) : null,
    fingerprint: await fingerprintOf(hashes, tenantId, token),
    terms: await termsOf(hashes, tenantId, token),
  };
}

function fingerprintOf(
  hashes: KeyedHashes,
  tenantId: string,
  { type, data, options, fingerprinted }: ValidToken,
): Promise<string> {
  return options.fingerprintExpression === undefined
    ? hashes.fingerprint(tenantId, type, 'data', data)
    : hashes.fingerprint(tenantId, type, 'expression', fingerprinted);
}

async function termsOf(
  hashes: KeyedHashes,
  tenantId: string,
  { indexed, metadata }: ValidToken,
): Promise<string[]> {
  const terms = await Promise.all([
    ...indexed.map((text) => hashes.dataTerm(tenantId, text)),
    ...Object.entries(metadata).map(([name, value]) => hashes.metadataTerm(tenantId, name, value)),
  ]);
  return [...new Set(terms)];
}
