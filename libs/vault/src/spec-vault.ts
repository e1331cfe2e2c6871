import { randomBytes } from 'node:crypto';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { useTestDatabase } from '@glovebox/testing';
import { TokenUses } from './statements/token-uses';
import { Vault } from './vault';

interface SpecVault {
  /** The connections of gateway and worker, which the vault uses. */
  readonly data: Database;
  readonly management: Database;
  /** They look past row-level security. */
  readonly admin: Database;
  readonly sealer: Sealer;
  readonly uses: TokenUses;
  readonly vault: Vault;
}

/**
 * Makes a vault on a database of its own before the first test of a spec. The members are there from
 * `beforeAll` on.
 */
export function useSpecVault({ connectionsMax = 5 } = {}): SpecVault {
  const made = {} as SpecVault;
  const database = useTestDatabase();
  beforeAll(() => {
    const connect = (url: string): Database =>
      database.closing(connectDatabase({ url, app: 'spec', connectionsMax }));
    const data = connect(database.dataUrl);
    const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
    const sealer = new Sealer(ring, dataKeyTable(data));
    const uses = new TokenUses(data);
    Object.assign(made, {
      ...{ data, sealer, uses, vault: new Vault(sealer, uses) },
      management: connect(database.managementUrl),
      admin: connect(database.adminUrl),
    });
  });
  return made;
}
