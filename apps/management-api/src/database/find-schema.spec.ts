import { connectDatabase } from '@glovebox/database';
import { useTestDatabase } from '@glovebox/testing';
import { findSchema } from './find-schema';

const database = useTestDatabase();

it('the doctor names a column that a migration would have made', async () => {
  expect(await findSchema(database.managementUrl)).toMatchObject({ condition: 'ok' });
  const owner = connectDatabase({ url: database.ownerUrl, app: 'spec', connectionsMax: 1 });
  try {
    await owner.query('ALTER TABLE proxies DROP COLUMN allowed_origins');
  } finally {
    await owner.close();
  }
  expect(await findSchema(database.managementUrl)).toMatchObject({
    condition: 'fault',
    says: '1 columns are missing, such as proxies.allowed_origins',
  });
});

it('a database that does not answer leaves the schema unknown', async () => {
  const nowhere = database.managementUrl.replace(/:\d+\//, ':1/');
  expect(await findSchema(nowhere)).toMatchObject({ condition: 'unknown' });
});
