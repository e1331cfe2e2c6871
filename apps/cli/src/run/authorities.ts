import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';

/** Where systems keep the authorities that they trust. */
const systemFiles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** What a program trusts already. Where nothing is said, and the system has no file: what Node trusts. */
function trustedAlready(env: NodeJS.ProcessEnv): string {
  for (const file of [env.SSL_CERT_FILE, ...systemFiles]) {
    const text = file === undefined ? undefined : textOf(file);
    if (text?.includes('-----BEGIN')) return text;
  }
  return rootCertificates.join('\n');
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** A file with the authorities of the system and that of the tenant, for as long as a command runs. */
export class AuthoritiesFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'glovebox-run-'));
  readonly path = join(this.#folder, 'authorities.pem');

  constructor(ofTenant: string, env: NodeJS.ProcessEnv) {
    try {
      writeFileSync(this.path, `${trustedAlready(env).trimEnd()}\n${ofTenant}`, { mode: 0o600 });
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
