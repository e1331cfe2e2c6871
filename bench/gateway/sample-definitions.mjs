import { build } from 'esbuild';
import { randomBytes, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { aliases } from '../../tools/build.mjs';
import { repoRoot } from '../../tools/lib/repo.mjs';

/** How this version seals what it writes into the definition log. */
export async function loadSealing() {
  const outfile = join(repoRoot, 'dist', 'bench', 'sealing.cjs');
  await build({
    stdin: {
      contents: `export { sealDefinition } from '@glovebox/definitions';
        export { parseKeyRing } from '@glovebox/seal';`,
      resolveDir: repoRoot,
      loader: 'ts',
    },
    alias: aliases(),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    outfile,
  });
  return createRequire(import.meta.url)(outfile);
}

/** Of ten: seven proxies, two applications, one reactor. */
export function sampleDefinition(tenantId, at) {
  const place = at % 10;
  const kind = place < 7 ? 'proxy' : place < 9 ? 'application' : 'reactor';
  return { kind, id: randomUUID(), tenantId, ...samples[kind](at) };
}

const keyHash = () => randomBytes(32).toString('base64url');

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
