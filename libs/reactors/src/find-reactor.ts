import type { Principal } from '@glovebox/access';
import {
  Decision,
  type DefinitionFollower,
  type DefinitionSnapshot,
  type FormulaDefinition,
  type ReactorDefinition,
} from '@glovebox/definitions';
import { notFound } from '@glovebox/problems';

/** The definitions that an invocation depends on, as they are at one moment. */
export interface InvokedReactor {
  readonly reactor: ReactorDefinition;
  readonly formula: FormulaDefinition;
  /** The invoking application. Tokens in the arguments are used under its grants. */
  readonly caller: Principal;
  /** The application that `req.svc` acts as; null when the reactor's application is gone. */
  readonly application: Principal | null;
}

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
  if (!formula) throw notFound('reactor');
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
