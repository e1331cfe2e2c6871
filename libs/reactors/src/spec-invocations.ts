import { randomBytes, randomUUID } from 'node:crypto';
import type { AccessRule, Permission, Principal } from '@glovebox/access';
import { connectDatabase, dataKeyTable, type Database } from '@glovebox/database';
import {
  DefinitionSnapshot,
  type FormulaDefinition,
  type ReactorDefinition,
} from '@glovebox/definitions';
import { createRunnerClient, type RunnerClient } from '@glovebox/sandbox';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase, startRunner, type TestDatabase } from '@glovebox/testing';
import { TokenUses, Vault } from '@glovebox/vault';
import type { ReactorContext } from './context';
import { Bundles } from './bundles';
import { decideReactor, type InvokedReactor } from './find-reactor';
import { invokeReactor, type Invocation } from './invoke-reactor';

const tenantId = randomUUID();
const everything: Permission[] = ['token:use', 'token:create', 'token:read'];

export function principal(permissions: readonly Permission[]): Principal {
  const rule: AccessRule = {
    description: '',
    priority: 1,
    container: '/',
    transform: 'reveal',
    permissions: [...permissions],
  };
  return {
    actorId: randomUUID(),
    tenantId,
    type: 'private',
    permissions: [...permissions],
    rules: [rule],
  };
}

export const caller = principal(everything);
export const application = principal(['token:create', 'token:read']);
export const formula: FormulaDefinition = {
  kind: 'formula',
  id: randomUUID(),
  tenantId,
  code: 'module.exports = async () => ({})',
  codeHash: 'a',
  runtime: 'node20',
  requestParameters: [],
};
export const reactor: ReactorDefinition = {
  kind: 'reactor',
  id: randomUUID(),
  tenantId,
  formulaId: formula.id,
  applicationId: null,
  configuration: {},
  isolation: 'warm',
};
export const asApplication: ReactorDefinition = {
  ...reactor,
  applicationId: application.actorId,
};

const copyOf = (decided: InvokedReactor): InvokedReactor =>
  JSON.parse(JSON.stringify(decided)) as InvokedReactor;

interface Changes {
  readonly reactor?: ReactorDefinition;
  readonly formula?: Partial<FormulaDefinition>;
  readonly caller?: Principal;
  readonly application?: Principal | null;
}

interface RunOptions extends Partial<Omit<Invocation, keyof InvokedReactor>> {
  readonly now?: Changes;
  /** Decides again as often as it is asked. */
  readonly later?: (decided: InvokedReactor) => Promise<InvokedReactor>;
}

/** Invocations with a database, a vault and a runner. */
export class SpecInvocations {
  /** `env`: of the runner. */
  static async open(env: Readonly<Record<string, string>> = {}): Promise<SpecInvocations> {
    const [testDatabase, runner] = await Promise.all([createTestDatabase(), startRunner({ env })]);
    return new SpecInvocations(testDatabase, runner);
  }

  readonly database: Database;
  context: ReactorContext;
  private readonly client: RunnerClient;

  constructor(
    readonly testDatabase: TestDatabase,
    private readonly runner: Awaited<ReturnType<typeof startRunner>>,
  ) {
    const url = testDatabase.dataUrl;
    this.database = connectDatabase({ url, app: 'spec', connectionsMax: 3 });
    this.client = createRunnerClient({ urls: [runner.url], secret: runner.secret });
    const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
    const sealer = new Sealer(ring, dataKeyTable(this.database));
    this.context = {
      database: this.database,
      vault: new Vault(sealer, new TokenUses(this.database)),
      runner: this.client,
      bundles: new Bundles(this.database, sealer),
      logger: { error: () => undefined },
    };
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.runner.stop();
    await this.database.close();
    await this.testDatabase.drop();
  }

  /** A run of this code. */
  run(
    code: string,
    { now = {}, later = (decided) => Promise.resolve(decided), ...more }: RunOptions = {},
  ): ReturnType<typeof invokeReactor> {
    const decided: InvokedReactor = {
      reactor,
      caller,
      application: null,
      ...now,
      formula: { ...formula, code, codeHash: code, ...now.formula },
    };
    let found = decided;
    const follower = {
      fresh: () => undefined,
      current: async () => {
        found = await later(copyOf(decided));
        return new DefinitionSnapshot();
      },
    };
    return invokeReactor(this.context, {
      ...decided,
      decision: decideReactor(follower, new DefinitionSnapshot(), () => found),
      args: {},
      urgency: 'sync',
      timeoutMs: 10_000,
      traceId: 'spec',
      ...more,
    });
  }

  async storeToken(data: unknown, destinations?: readonly string[]): Promise<string> {
    const actor = { principal: caller, traceId: 'spec' };
    const { view } = await this.database.transaction((sql) =>
      this.context.vault.createToken(sql, actor, { data, destinations }),
    );
    return view.id;
  }
}
