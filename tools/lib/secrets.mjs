import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @type {(keyof import('./types.js').Secrets)[]} */
const passwords = [
  'postgresPassword',
  'ownerPassword',
  'managementPassword',
  'dataPassword',
  'rotationPassword',
  'redisPassword',
  'runnerSecret',
];

/**
 * Writes a file that only its owner can read, and that no reader sees half written.
 *
 * @param {string} file
 * @param {string} text
 */
export function writePrivate(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

/** @returns {import('./types.js').Secrets} */
export function generateSecrets() {
  const made = passwords.map((name) => [name, randomBytes(24).toString('hex')]);
  return Object.fromEntries(made);
}

/**
 * The secrets of a folder, made once and kept until `--reset`. An older folder gets new ones.
 *
 * @param {string} folder
 * @returns {import('./types.js').Secrets}
 */
export function secretsOf(folder) {
  const file = join(folder, 'secrets.json');
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  if (passwords.every((name) => known[name])) return known;
  const secrets = { ...generateSecrets(), ...known };
  writePrivate(file, JSON.stringify(secrets, null, 2) + '\n');
  return secrets;
}

export const generateKeyRing = () => `1:${randomBytes(32).toString('base64')}`;

/**
 * The file of the master key. Without it nothing that was sealed opens again.
 *
 * @param {string} folder
 */
export function keyRingFileOf(folder) {
  const file = join(folder, 'key-ring');
  if (!existsSync(file)) writePrivate(file, `${generateKeyRing()}\n`);
  return file;
}

/**
 * The key ring of the variables, else that of the running product.
 *
 * @param {import('./types.js').Environment} env
 * @param {import('./types.js').Dev | undefined} dev
 * @param {string} folder
 * @returns {import('./types.js').KeyRingVariable}
 */
export function keyRingForScripts(env, dev, folder) {
  if (env.KEY_RING) return { KEY_RING: env.KEY_RING };
  return { KEY_RING_FILE: env.KEY_RING_FILE || dev?.keyRingFile || keyRingFileOf(folder) };
}
