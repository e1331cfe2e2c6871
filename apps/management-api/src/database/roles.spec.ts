import { startTcpRelay, useTestDatabase } from '@glovebox/testing';
import { ensureRoles } from './roles';

const database = useTestDatabase();

it('a Postgres that hangs ends the command that makes roles with an error', async () => {
  const relay = await startTcpRelay(database.adminUrl);
  relay.stall();
  try {
    const passwords = { owner: 'o', management: 'm', data: 'd', rotation: 'r' };
    await expect(ensureRoles(relay.through(database.adminUrl), passwords)).rejects.toThrow(
      'timeout',
    );
  } finally {
    await relay.close();
  }
});
