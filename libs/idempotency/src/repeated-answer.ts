import type { Actor, Principal } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import type { EndedWork } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import { requireShown } from '@glovebox/vault';
import { placeOf, readAnswer, type Replay } from './claimed-calls';

/** The caller that sent the call again, with the applications as they are now. */
interface Repetition {
  readonly actor: Actor;
  readonly entityType: 'reactor' | 'tenant';
  readonly entityId: string;
  readonly principalOf: (applicationId: string) => Principal | undefined;
}

/**
 * Opens the stored answer of an earlier call: the JSON that was sent. One that may show data of
 * tokens is decided anew and recorded. Refuses it where that data could not be opened now. A large
 * one costs so much that the caller of this must wait for its turn.
 */
export async function repeatedAnswer(
  sql: Sql,
  sealer: Sealer,
  replay: Replay,
  { actor, entityType, entityId, principalOf }: Repetition,
): Promise<Buffer> {
  const response = replay.isLarge ? await readAnswer(sql, replay) : replay.response;
  if (mayShowTokens(replay)) {
    const { tenantId, actorId } = actor.principal;
    const use = { tenantId, actorId, operation: 'repeat', entityType, traceId: actor.traceId };
    const answer = { entityId, sights: replay.sights, isErased: response === null };
    await requireShown(sql, { use, principalOf }, answer, endOf(replay));
  }
  if (!response) throw new Error('A stored answer has neither body nor sights');
  return sealer.open(placeOf(replay), response);
}

const endOf = ({ status, outcome, runId, endedAt }: Replay): EndedWork => ({
  outcome,
  httpStatus: status,
  at: endedAt,
  ...(runId === null ? {} : { runId }),
});

/** A run that was accepted has not begun, and its 202 shows nothing. */
const mayShowTokens = ({ isRun, status, sights }: Replay): boolean =>
  sights !== null || (isRun && status !== 202);
