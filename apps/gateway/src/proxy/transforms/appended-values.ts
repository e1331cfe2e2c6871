import type { Principal } from '@glovebox/access';
import type { DefinitionSnapshot, TransformStep } from '@glovebox/definitions';
import { appendedTemplate, Budget, mayExpand, type AppendedTemplate } from '@glovebox/expressions';
import { applicationGone } from '@glovebox/problems';
import { OpeningBudget, type Use } from '@glovebox/vault';
import { toldTo, type InvokedProxy } from '../../call/caller';
import { joined } from '../../connection/small-body';
import type { GatewayContext } from '../../context';
import { noteTokens } from '../../observing/call';
import { valueObserversOf, type ProxiedRequest } from '../fill-in';
import type { ReceivedRequest } from '../proxy-handler';
import { withField, withNewHeader } from './head-steps';
import { failedInStep } from './transform-failure';

/** What the append steps of a request put in, by their positions (docs/adr/0149). */
export interface AppendedValues {
  readonly values: ReadonlyMap<number, unknown>;
  /** Steps that sign the body, and so come when nothing changes it any more. */
  readonly late: ReadonlySet<number>;
  /** The data of the tokens, which nothing shows that code writes. */
  readonly opened: ReadonlyMap<string, unknown>;
  sign(request: ProxiedRequest): Promise<ProxiedRequest>;
}

interface Appending {
  readonly at: number;
  readonly options: Extract<TransformStep, { type: 'append' }>['options'];
  readonly template: AppendedTemplate;
}

const known = new WeakMap<readonly TransformStep[], boolean>();

/** Hot path: looks into the steps of a definition once. */
export function mayAppend({ requestSteps: steps }: InvokedProxy): boolean {
  if (steps.length === 0) return false;
  let found = known.get(steps);
  if (found === undefined) {
    found = steps.some(({ type, options }) => type === 'append' && mayExpand(options.value));
    known.set(steps, found);
  }
  return found;
}

/** The application whose tokens the steps of a proxy put in, as it may act now. */
export function appenderOf(
  definitions: DefinitionSnapshot,
  proxy: InvokedProxy,
): Principal | undefined {
  const { tenantId, applicationId } = proxy;
  if (applicationId === null || !mayAppend(proxy)) return undefined;
  return definitions.principal(tenantId, applicationId);
}

const compiled = new WeakMap<readonly TransformStep[], readonly Appending[]>();

/** Hot path: parses the values of a definition once. */
function appendingsOf(proxy: InvokedProxy): readonly Appending[] {
  if (!mayAppend(proxy)) return [];
  const { requestSteps: steps } = proxy;
  let found = compiled.get(steps);
  if (!found) {
    found = steps.flatMap((step, at) => appendingOf(step, at) ?? []);
    compiled.set(steps, found);
  }
  return found;
}

function appendingOf({ type, options }: TransformStep, at: number): Appending | undefined {
  if (type !== 'append') return undefined;
  try {
    const template = appendedTemplate(options.location, options.value);
    return template && { at, options, template };
  } catch (thrown) {
    throw failedInStep(thrown, 'request', at);
  }
}

/** True if a step needs the whole body, of whatever kind it is. */
export const signsBody = (proxy: InvokedProxy): boolean =>
  appendingsOf(proxy).some(({ template }) => template.signsBody);

/**
 * Opens what the steps append, as the application of the proxy: its permissions count, and the record
 * names it. The caller may use the proxy, and nothing else is asked of it.
 */
export async function openAppended(
  ctx: GatewayContext,
  { decision, call, room, reach }: ReceivedRequest,
  useBy: (actorId: string) => Use,
): Promise<AppendedValues | undefined> {
  const appendings = appendingsOf(decision.decided.proxy);
  if (appendings.length === 0) return undefined;
  const { appender, caller } = decision.decided;
  if (!appender) throw applicationGone('proxy');
  const ids = [...new Set(appendings.flatMap(({ template }) => template.tokenIds))];
  await decision.confirm();
  const opening = new OpeningBudget(room.keep);
  const opened = await ctx.vault
    .detokenize(appender, useBy(appender.actorId), ids, reach, opening)
    .catch((thrown: unknown) => {
      throw toldTo(caller, thrown);
    });
  noteTokens(call, ids);
  await decision.confirm();
  call.capture?.opened(opened);
  const fill = (appending: Appending, body?: Buffer): Promise<unknown> =>
    filled(appending, opened, new Budget(room, valueObserversOf(call), body));
  const early = appendings.filter(({ template }) => !template.signsBody);
  const late = appendings.filter(({ template }) => template.signsBody);
  const values = new Map<number, unknown>();
  for (const appending of early) values.set(appending.at, await fill(appending));
  return {
    values,
    late: new Set(late.map(({ at }) => at)),
    opened,
    async sign(request) {
      if (late.length === 0) return request;
      const body = bytesOf(request.body);
      let { headers, query } = request;
      for (const appending of late) {
        const text = String(await fill(appending, body));
        const { options } = appending;
        if (options.location === 'header') {
          headers = withNewHeader(headers, options.name, text, ctx.headers);
        } else if (options.location === 'query') query = withField(query, options.name, text);
      }
      return { suffix: request.suffix, query, headers, body: request.body };
    },
  };
}

async function filled(
  { at, template }: Appending,
  opened: ReadonlyMap<string, unknown>,
  budget: Budget,
): Promise<unknown> {
  try {
    return await template.renderInSlices(opened, budget);
  } catch (thrown) {
    throw failedInStep(thrown, 'request', at);
  }
}

function bytesOf(body: ProxiedRequest['body']): Buffer {
  if (body === null) return Buffer.alloc(0);
  if ('open' in body) throw new Error('A body that is signed was not read whole.');
  return Buffer.isBuffer(body) ? body : joined(body);
}
