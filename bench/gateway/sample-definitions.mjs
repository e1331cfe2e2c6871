import { randomBytes, randomUUID } from 'node:crypto';
import { loadLibraries } from '../lib/libraries.mjs';

/** The functions by which this version seals definitions. */
export const loadSealing = () =>
  loadLibraries('sealing', {
    './libs/definitions/src/codec.ts': 'sealDefinition',
    '@glovebox/seal': 'parseKeyRing',
  });

/**
 * Of ten definitions seven are proxies, two applications and one a reactor.
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
