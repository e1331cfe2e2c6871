import { connectDatabase } from '@glovebox/database';
import { createTestDatabase } from '@glovebox/testing';
import type { EndedCall } from './call-row';

/** The tables of calls. */
export async function startSpecCalls() {
  const testDatabase = await createTestDatabase();
  const connect = (url: string) => connectDatabase({ url, app: 'spec', connectionsMax: 4 });
  const database = connect(testDatabase.dataUrl);
  /** The superuser's connections. */
  const admin = connect(testDatabase.adminUrl);
  return {
    database,
    admin,
    managementUrl: testDatabase.managementUrl,

    async empty(): Promise<void> {
      await admin.query('TRUNCATE calls, call_summary');
    },

    async close(): Promise<void> {
      await Promise.all([database.close(), admin.close()]);
      await testDatabase.drop();
    },
  };
}

export type SpecCalls = Awaited<ReturnType<typeof startSpecCalls>>;

export const endedCall = (tenantId: string | undefined, more: Partial<EndedCall> = {}) =>
  ({
    method: 'GET',
    traceId: 'trace',
    startedAt: 1_000,
    tenantId,
    applicationId: undefined,
    proxyId: undefined,
    reactorId: undefined,
    decidedAt: undefined,
    askedAt: undefined,
    answeredAt: undefined,
    destinationStatus: undefined,
    problem: undefined,
    requestBytes: undefined,
    answerBytes: undefined,
    tokenIds: undefined,
    runId: undefined,
    requestRunId: undefined,
    responseRunId: undefined,
    ...more,
  }) satisfies EndedCall;
