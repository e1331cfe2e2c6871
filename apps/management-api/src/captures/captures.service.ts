import { holds, type Actor } from '@glovebox/access';
import {
  capturePlace,
  capturesById,
  findCapture,
  findCaptureIds,
  type CapturedMessages,
  type CaptureRow,
} from '@glovebox/captures';
import { record, type CursorQuery } from '@glovebox/database';
import { isDefined, type CaptureDefinition } from '@glovebox/definitions';
import { notFound, Problem } from '@glovebox/problems';
import { Injectable } from '@nestjs/common';
import type { Author } from '../changes/change';
import { changeRow } from '../changes/change-row';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { Proxy } from '../entities/proxy.entity';
import { toCursorPage } from '../lists/cursor';
import { rowsOf, type Page, type Portion } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { isUuid } from '../validation/uuid';
import {
  captureMinutesDefault,
  toCaptureLine,
  toWindow,
  type CaptureResponse,
  type CaptureWindow,
  type StartCapture,
} from './captures.dto';

const wholeTexts =
  'Whole texts need the role admin and the setting `allow_full_capture` of the tenant.';

/**
 * Switches capture of a proxy on and off, and shows what gateways kept (docs/adr/0104). The switch is
 * a definition of its own: the proxy and its tag stay as they are.
 */
@Injectable()
export class CapturesService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async start(
    actor: Actor,
    author: Author,
    id: string,
    { minutes = captureMinutesDefault, whole = false }: StartCapture,
  ): Promise<CaptureWindow> {
    if (whole) await this.#requireWhole(actor);
    const row = { entity: Proxy, id };
    return changeRow(this.ctx, author, 'update', row, async () => {
      const until = new Date(Date.now() + minutes * 60_000).toISOString();
      const { tenantId } = author;
      const definition: CaptureDefinition = { kind: 'capture', id, tenantId, until, whole };
      const reason = `until ${until}${whole ? ', whole texts' : ''}`;
      return {
        result: { proxy_id: id, until, whole },
        definitions: [definition],
        lines: [
          { operation: 'proxy.capture_started', entityType: 'proxy', entityIds: [id], reason },
        ],
      };
    });
  }

  /** Also takes away what is over: it counts as a definition of the tenant. */
  async end(author: Author, id: string): Promise<void> {
    const row = { entity: Proxy, id };
    await changeRow(this.ctx, author, 'update', row, async (manager) => {
      if (!(await isDefined(asSql(manager), 'capture', id))) return { result: undefined };
      return {
        result: undefined,
        deletions: [{ kind: 'capture', id }],
        lines: [{ operation: 'proxy.capture_ended', entityType: 'proxy', entityIds: [id] }],
      };
    });
  }

  async list(
    { principal: { tenantId } }: Actor,
    proxyId: string,
    query: CursorQuery,
  ): Promise<Page> {
    const { dataSource, definitions } = this.ctx;
    const sql = eachInTenant(dataSource, tenantId);
    const window = toWindow((await definitions.follower.current()).captureOf(proxyId));
    const ids = await findCaptureIds(sql, { tenantId, proxyId }, query);
    const read = (portion: Portion): Promise<CaptureRow[]> =>
      queryPortion(sql, portion, capturesById, { idType: 'uuid', values: [tenantId] });
    const about = window && { window };
    return toCursorPage(query, ids, (shown) => rowsOf(shown, read, toCaptureLine), about);
  }

  /** Nothing is shown unrecorded. */
  async read(actor: Actor, proxyId: string, captureId: string): Promise<CaptureResponse> {
    const { principal, traceId } = actor;
    const { tenantId, actorId } = principal;
    if (!isUuid(captureId)) throw notFound('capture');
    const { dataSource, sealer } = this.ctx;
    const wanted = { tenantId, proxyId, id: captureId.toLowerCase() };
    const row = await findCapture(eachInTenant(dataSource, tenantId), wanted);
    if (!row) throw notFound('capture');
    if (row.isWhole) await this.#requireWhole(actor);
    await inTenant(dataSource, tenantId, (manager) =>
      record(asSql(manager), {
        ...{ tenantId, actorId, traceId, outcome: 'success', operation: 'capture.read' },
        ...{ entityType: 'capture', entityId: row.id },
      }),
    );
    const messages = await sealer.open(capturePlace(tenantId, row.id), row.messages);
    return {
      ...toCaptureLine(row),
      ...(JSON.parse(messages.toString('utf8')) as CapturedMessages),
    };
  }

  /** A person, so that the audit log names one. An admin alone may change applications. */
  async #requireWhole({ principal }: Actor): Promise<void> {
    const { tenantId } = principal;
    const definitions = await this.ctx.definitions.follower.current();
    const { settings } = definitions.find('tenant', tenantId, tenantId) ?? {};
    const isAdmin = principal.type === 'person' && holds(principal, 'application:update');
    if (isAdmin && settings?.allow_full_capture === 'true') return;
    throw new Problem('permission_denied', { detail: wholeTexts });
  }
}
