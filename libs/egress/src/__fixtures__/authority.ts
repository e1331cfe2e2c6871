import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly ca: string;
  /** For subject names as openssl writes them: `DNS:dest.test`, `IP:127.0.0.1`. */
  issue(...names: string[]): Certificate;
  close(): void;
}

/** A certificate authority of the moment, so that no key is ever stored. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'egress-authority-'));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem'],
    ...['-subj', '/CN=authority of a spec', '-days', '2'],
  );
  let issued = 0;
  return {
    ca: read('ca.pem'),
    issue(...names) {
      issued += 1;
      const [key, request, cert] = ['key', 'csr', 'pem'].map((ending) => `${issued}.${ending}`) as [
        string,
        string,
        string,
      ];
      openssl(
        ...['req', ...newKey, '-keyout', key, '-out', request, '-subj', '/CN=leaf'],
        ...['-addext', `subjectAltName=${names.join(',')}`],
      );
      openssl(
        ...['x509', '-req', '-in', request, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-days', '2'],
        ...['-CAcreateserial', '-copy_extensions', 'copy', '-out', cert],
      );
      return { cert: read(cert), key: read(key) };
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
