import type { RunnerAddress } from './runner-address';

/** The one in use, and the other one while a secret is exchanged. */
const secretsMax = 2;
/** Whoever records a handshake may guess at its key for years: 32 hexadecimal digits are 128 bits. */
const networkSecretCharactersMin = 32;

/**
 * RUNNER_SECRET: a secret, or two with a comma between them while it is exchanged. Callers use the
 * first, a runner accepts both.
 */
export function parseRunnerSecret(
  text: string,
  addresses: readonly RunnerAddress[],
): readonly [string, ...string[]] {
  const [first, ...others] = text.split(',').map((part) => part.trim());
  if (first === undefined || [first, ...others].includes('') || others.length >= secretsMax) {
    throw new Error('must be one secret, or two with a comma between them');
  }
  const isOnNetwork = addresses.some((address) => !('path' in address));
  const isShort = [first, ...others].some(({ length }) => length < networkSecretCharactersMin);
  if (isOnNetwork && isShort) {
    throw new Error(`must have ${networkSecretCharactersMin} random characters or more for tcp://`);
  }
  return [first, ...others];
}
