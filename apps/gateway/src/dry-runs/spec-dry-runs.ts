import { createHash, randomUUID, type UUID } from 'node:crypto';
import type { Permission, Principal } from '@glovebox/access';
import {
  dryRunsPath,
  ticketHeader,
  writeOrder,
  type DryRunOrder,
  type ProxyRehearsal,
  type ReactorRehearsal,
} from '@glovebox/dry-runs';
import { startDestination, startRunner } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

/** Orders dry runs as a management API does. */
export class SpecOrders {
  constructor(private readonly gateway: SpecGateway) {}

  async caller(permissions: Permission[], tenantId?: UUID): Promise<Principal> {
    const { id } = await this.gateway.revocable(permissions, tenantId);
    const { follower } = this.gateway.ctx;
    const caller = follower.fresh()?.principal(tenantId ?? this.gateway.tenantId, id);
    if (!caller) throw new Error('the application is not known yet');
    return caller;
  }

  reactor(
    caller: Principal,
    code: string,
    more: Partial<ReactorRehearsal> = {},
    changes: Partial<ReactorRehearsal['reactor']> = {},
  ): ReactorRehearsal {
    const { tenantId } = caller;
    const [id, formulaId] = [randomUUID(), randomUUID()];
    const codeHash = createHash('sha256').update(code).digest('hex');
    return {
      ...{ kind: 'reactor', id: randomUUID(), caller, traceId: 'dry', configurationOf: null },
      reactor: {
        ...{ kind: 'reactor', id, tenantId, formulaId, applicationId: null },
        ...{ configuration: {}, isolation: 'warm', ...changes },
      },
      formula: {
        ...{ kind: 'formula', id: formulaId, tenantId, code, codeHash },
        ...{ runtime: 'node20', requestParameters: [] },
      },
      ...{ args: {}, network: false, svc: false },
      ...more,
    };
  }

  proxy(
    caller: Principal,
    changes: Partial<ProxyRehearsal['proxy']>,
    messages: Partial<Pick<ProxyRehearsal, 'answer' | 'configurationOf' | 'kept'>> & {
      readonly request?: Partial<ProxyRehearsal['request']>;
    } = {},
  ): ProxyRehearsal {
    return {
      ...{ kind: 'proxy', id: randomUUID(), caller, traceId: 'dry', configurationOf: null },
      ...{ answer: null, kept: [] },
      ...messages,
      request: {
        ...{ method: 'POST', suffix: '', query: '', headers: [], body: null },
        ...messages.request,
      },
      proxy: {
        ...{ kind: 'proxy', id: randomUUID(), tenantId: caller.tenantId, keyHash: '' },
        ...{ destinationUrl: 'https://destination.example/base', requireAuth: true },
        ...{ detokenize: true, requestTransform: null, responseTransform: null },
        ...{ requestSteps: [], responseSteps: [], applicationId: null, configuration: {} },
        ...{ isolation: 'warm', timeoutMs: null, tls: null, allowedOrigins: [] },
        ...{ match: null, forwardTo: null },
        ...changes,
      },
    };
  }

  async send(
    order: DryRunOrder,
    {
      body = writeOrder(order),
      ticket,
      signal,
    }: { body?: Buffer; ticket?: string; signal?: AbortSignal } = {},
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const answer = await fetch(`${this.gateway.url}${dryRunsPath}`, {
      method: 'POST',
      headers: {
        [ticketHeader]: ticket ?? this.gateway.ctx.tickets.write(order.caller, writeOrder(order)),
      },
      body,
      ...(signal ? { signal } : {}),
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  }
}

/** What specs of dry runs need: an author, and a user who may also use tokens. */
export async function startDryRuns(permission: Permission) {
  const destination = await startDestination();
  const runner = await startRunner({ env: { EGRESS_ALLOW: '127.0.0.1:*' } });
  const gateway = await startSpecGateway({
    ...{ RUNNER_URLS: runner.url, RUNNER_SECRET: runner.secret },
    REACTOR_SYNC_TIMEOUT_MS: '5000',
  });
  const orders = new SpecOrders(gateway);
  return {
    ...{ destination, gateway, orders },
    author: await orders.caller([permission]),
    user: await orders.caller([permission, 'token:use']),
    async close(): Promise<void> {
      await gateway.close();
      await runner.stop();
      await destination.close();
    },
  };
}
