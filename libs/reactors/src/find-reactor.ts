import { Decision, type DefinitionFollower, type DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { InvokedReactor } from './invoke-reactor';

/**
 * Finds a reactor, its code, and the application that the code acts as. An unknown, a foreign and a
 * deleted reactor are answered alike.
 */
export function findReactor(
  definitions: DefinitionSnapshot,
  tenantId: string,
  reactorId: string,
): Omit<InvokedReactor, 'caller'> {
  definitions.requireReadable('reactor', reactorId);
  const reactor = definitions.find('reactor', tenantId, reactorId);
  if (reactor) definitions.requireReadable('formula', reactor.formulaId);
  const formula = reactor && definitions.find('formula', tenantId, reactor.formulaId);
  if (!formula) throw new Problem('not_found');
  const { applicationId } = reactor;
  const application =
    applicationId === null ? undefined : definitions.principal(tenantId, applicationId);
  return { reactor, formula, application: application ?? null };
}

export type ReactorDecision = Decision<InvokedReactor>;

/**
 * Decides an invocation. Its code is started only if reactor, formula and caller stay as they were.
 * The application may change: it is looked up at each use.
 */
export function decideReactor(
  follower: Pick<DefinitionFollower, 'fresh' | 'current'>,
  definitions: DefinitionSnapshot,
  find: (definitions: DefinitionSnapshot) => InvokedReactor,
): ReactorDecision {
  return new Decision(follower, definitions, { find, parts: ['reactor', 'formula', 'caller'] });
}
