import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { Context, type ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { actorOf, requestOf } from '../http/request';

/** Checks, before the body is read, that the token exists and that the caller may change it. */
@Injectable()
export class TokenGuard implements CanActivate {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const { id } = request.params;
    const actor = actorOf(request);
    const { tenantId } = actor.principal;
    if (typeof id !== 'string' || !isTokenId(id)) throw new Problem('not_found');
    const sql = eachInTenant(this.ctx.dataSource, tenantId);
    await this.ctx.vault.requireChangeable(sql, actor, normalTokenId(id));
    return true;
  }
}
