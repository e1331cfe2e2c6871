import { randomBytes, randomUUID } from 'node:crypto';
import { loadLibraries } from '../lib/libraries.mjs';

/** How this version seals what it writes into the definition log. */
export const loadSealing = () =>
  loadLibraries('sealing', {
    './libs/definitions/src/codec.ts': 'sealDefinition',
    '@glovebox/seal': 'parseKeyRing',
  });

/**
 * Seven proxies, two applications and one reactor of ten.
 *
 * @param {string} tenantId
 * @param {number} at
 */
export function sampleDefinition(tenantId, at) {
  const place = at % 10;
  const kind = place < 7 ? 'proxy' : place < 9 ? 'application' : 'reactor';
  return { kind, id: randomUUID(), tenantId, ...samples[kind](at) };
}

const keyHash = () => randomBytes(32).toString('base64url');

/** @type {Record<'proxy' | 'application' | 'reactor', (at: number) => object>} */
const samples = {
  proxy: (at) => ({
    keyHash: keyHash(),
    destinationUrl: `https://api-${at}.example.com/v1/payments`,
    requireAuth: true,
    detokenize: true,
    requestTransform: null,
    responseTransform: null,
    requestSteps: [],
    responseSteps: [],
    applicationId: randomUUID(),
    configuration: { SERVICE_KEY: randomBytes(24).toString('hex') },
    isolation: 'warm',
    timeoutMs: null,
  }),
  application: () => ({
    type: 'private',
    permissions: ['token:use', 'token:read'],
    rules: [],
    expiresAt: null,
    keys: [{ id: randomUUID(), hash: keyHash() }],
  }),
  reactor: () => ({
    formulaId: randomUUID(),
    applicationId: randomUUID(),
    configuration: { SERVICE_KEY: randomBytes(24).toString('hex') },
    isolation: 'warm',
  }),
};
