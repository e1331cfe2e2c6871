import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scriptEnvironment } from './product';

export interface OwnTenant {
  readonly tenant_id: string;
  readonly management_key: string;
  readonly private_key: string;
}

/** A tenant of one test, where nobody else makes resources meanwhile. */
export async function createOwnTenant(name: string): Promise<OwnTenant> {
  const script = join(__dirname, '..', 'tools', 'tenant-create.mjs');
  const args = [script, '--name', name, '--demo'];
  const env = scriptEnvironment();
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as OwnTenant;
}
