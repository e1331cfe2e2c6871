import { requirePermission, type Principal } from '@glovebox/access';
import type { GatewayContext } from '../../context';
import type { StepTools } from './steps';

/** Makes the tokens of one message in one transaction, as the application of its proxy. */
export function tokenizeSteps(
  { database, vault }: Pick<GatewayContext, 'database' | 'vault'>,
  principal: Principal,
  traceId: string,
): StepTools['tokenize'] {
  return async (asked) => {
    requirePermission(principal, 'token:create');
    const tokens = asked.map(({ token, data }) => ({ ...token, data }));
    const document = await database
      .shareOf(principal.tenantId)
      .transaction((sql) => vault.tokenize(sql, { principal, traceId }, tokens));
    // The document holds one token per request for one, in the same order.
    return (document as readonly { readonly id: string }[]).map(({ id }) => id);
  };
}
