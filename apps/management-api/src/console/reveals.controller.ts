import { IsString, Matches } from 'class-validator';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { grantFor, type Actor, type Principal } from '@glovebox/access';
import { record, type Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { requireTokenId, type TokenView } from '@glovebox/vault';
import { Context, type ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import { TextLength, WithoutNul } from '../validation/decorators';

/** The page takes the value away after this time. */
const shownSeconds = 60;

class RevealToken {
  @IsString()
  @TextLength(1, 400)
  @WithoutNul()
  token_id!: string;

  @IsString()
  @TextLength(1, 500)
  @WithoutNul()
  @Matches(/\S/, { message: 'must say why' })
  reason!: string;
}

interface RevealResponse {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly shown_seconds: number;
}

/** The one way to data in the console. An admin may reveal what some application of the tenant may. */
@Controller('console/reveals')
export class RevealsController {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  @Post()
  @HttpCode(200)
  // An admin alone holds it: whoever may change rules decides what is revealed.
  @RequirePermission('application:update')
  async reveal(
    @Caller() actor: Actor,
    @Body() { token_id: tokenId, reason }: RevealToken,
  ): Promise<RevealResponse> {
    const { dataSource, revealRate, vault } = this.ctx;
    const { principal } = actor;
    revealRate?.count(principal.actorId);
    const sql = eachInTenant(dataSource, principal.tenantId);
    const { id, containers } = await vault.readToken(sql, actor, requireTokenId(tokenId));
    const [container = '/'] = containers;
    const isAllowed = await isRevealedToSome(sql, principal.tenantId, container);
    await recordReveal(sql, actor, { id, reason, isAllowed });
    if (!isAllowed) throw notRevealed(container);
    const { type, data } = await this.#read(sql, actor, id, container);
    return { id, type, data, shown_seconds: shownSeconds };
  }

  /** The vault decides again: the token may have moved since, and another container was decided. */
  async #read(sql: Sql, actor: Actor, id: string, container: string): Promise<TokenView> {
    const rule = {
      description: 'reveal of an admin',
      priority: 0,
      container,
      transform: 'reveal',
      permissions: ['token:read'],
    } as const;
    const principal: Principal = { ...actor.principal, permissions: [], rules: [rule] };
    const token = await this.ctx.vault.readToken(sql, { ...actor, principal }, id);
    if ((token.containers[0] ?? '/') !== container) throw notRevealed(container);
    return token;
  }
}

type Rights = Pick<Principal, 'permissions' | 'rules'>;

/** Whether some application of the tenant reads tokens of the container revealed. */
async function isRevealedToSome(sql: Sql, tenantId: string, container: string): Promise<boolean> {
  const applications = await sql.query<Rights>(
    `SELECT permissions, rules FROM applications
     WHERE tenant_id = $1 AND type = 'private' AND (expires_at IS NULL OR expires_at > now())
       AND rules @> '[{"transform": "reveal"}]'`,
    [tenantId],
  );
  return applications.some((rights) => {
    const principal: Principal = { ...rights, actorId: '', tenantId, type: 'private' };
    return grantFor(principal, 'token:read', container) === 'reveal';
  });
}

function recordReveal(
  sql: Sql,
  { principal, traceId }: Actor,
  { id, reason, isAllowed }: { id: string; reason: string; isAllowed: boolean },
): Promise<void> {
  return record(sql, {
    tenantId: principal.tenantId,
    actorId: principal.actorId,
    operation: 'token.reveal',
    entityType: 'token',
    entityId: id,
    outcome: isAllowed ? 'success' : 'refused',
    traceId,
    reason,
  });
}

const notRevealed = (container: string): Problem =>
  new Problem('permission_denied', {
    detail: `No application of the tenant has a rule that reveals tokens of the container ${container} with token:read.`,
  });
