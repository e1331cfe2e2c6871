import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the tests of one file, which services that run as another user can pass through. */
export function useFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-tools-'));
  chmodSync(folder, 0o711);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
