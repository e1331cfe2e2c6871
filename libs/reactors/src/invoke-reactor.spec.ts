import { randomBytes, randomUUID } from 'node:crypto';
import type { Principal } from '@glovebox/access';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import type { FormulaDefinition, ReactorDefinition } from '@glovebox/definitions';
import { createRunnerClient } from '@glovebox/sandbox';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase, type TestDatabase } from '@glovebox/testing';
import { TokenUses, Vault } from '@glovebox/vault';
import type { ReactorContext } from './context';
import { invokeReactor, type Decided } from './invoke-reactor';

const tenantId = randomUUID();
let testDatabase: TestDatabase;
let database: Database;
let context: ReactorContext;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = connectDatabase({ url: testDatabase.dataUrl, app: 'spec', connectionsMax: 2 });
  const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
  context = {
    database,
    vault: new Vault(new Sealer(ring, dataKeyTable(database)), new TokenUses(database)),
    // Nobody is there: a run that gets as far ends with no_capacity.
    runner: createRunnerClient({ urls: ['unix:/nonexistent/runner.sock'], secret: 'secret' }),
    logger: { error: () => undefined },
  };
});

afterAll(async () => {
  await context.runner.close();
  await database.close();
  await testDatabase.drop();
});

const caller: Principal = {
  applicationId: randomUUID(),
  tenantId,
  type: 'private',
  permissions: ['token:use'],
  rules: [],
};
const formula: FormulaDefinition = {
  kind: 'formula',
  id: randomUUID(),
  tenantId,
  code: 'module.exports = async () => ({})',
  codeHash: 'a',
  runtime: 'node20',
  requestParameters: [],
};
const reactor: ReactorDefinition = {
  kind: 'reactor',
  id: randomUUID(),
  tenantId,
  formulaId: formula.id,
  applicationId: null,
  configuration: {},
  isolation: 'warm',
};

const copyOf = (decided: Decided): Decided => JSON.parse(JSON.stringify(decided)) as Decided;
const invoke = (changed: Partial<Decided>): Promise<unknown> => {
  const decided: Decided = { reactor, formula, caller, application: null };
  return invokeReactor(context, {
    ...decided,
    decideAnew: () => Promise.resolve({ ...copyOf(decided), ...changed }),
    args: {},
    timeoutMs: 1_000,
    traceId: 'spec',
  });
};

describe('code is not started', () => {
  it.each<[string, Partial<Decided>]>([
    ['the formula has other code', { formula: { ...formula, code: 'x', codeHash: 'b' } }],
    ['the reactor is configured otherwise', { reactor: { ...reactor, configuration: { a: 'b' } } }],
    ['the caller may do less', { caller: { ...caller, permissions: [] } }],
  ])('409 changed_meanwhile: %s since its arguments were opened', async (_, changed) => {
    await expect(invoke(changed)).rejects.toMatchObject({ status: 409, code: 'changed_meanwhile' });
  });
});

it('code is started when the definitions say the same in other objects', async () => {
  await expect(invoke({})).rejects.toMatchObject({ code: 'no_capacity' });
});
