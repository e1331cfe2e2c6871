import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateFiles extends Certificate {
  /** Writes another certificate to the same files. */
  replace(certificate: Certificate): void;
  remove(): void;
}

/** Files for a server that runs as another user and that nobody else may read. */
export function certificateFiles(
  certificate: Certificate,
  { uid, gid }: { readonly uid?: number; readonly gid?: number },
): CertificateFiles {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-certificate-'));
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const replace = (written: Certificate): void => {
    writeFileSync(files.cert, written.cert, { mode: 0o600 });
    writeFileSync(files.key, written.key, { mode: 0o600 });
  };
  replace(certificate);
  if (uid !== undefined && gid !== undefined) {
    for (const path of [folder, files.cert, files.key]) chownSync(path, uid, gid);
  }
  return { ...files, replace, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
