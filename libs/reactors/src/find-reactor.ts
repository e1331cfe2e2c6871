import type { DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { Decided } from './invoke-reactor';

/**
 * Finds a reactor, its code, and the application that the code acts as. An unknown, a foreign and a
 * deleted reactor are answered alike.
 */
export function findReactor(
  definitions: DefinitionSnapshot,
  tenantId: string,
  reactorId: string,
): Omit<Decided, 'caller'> {
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
