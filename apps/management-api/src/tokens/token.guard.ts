import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { requireTokenId } from '@glovebox/vault';
import { Context, type ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { actorOf, requestOf } from '../http/request';

/** Checks, before the body is read, that the token exists and that the caller may change it. */
@Injectable()
export class TokenGuard implements CanActivate {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const actor = actorOf(request);
    const id = requireTokenId(request.params.id);
    const sql = eachInTenant(this.ctx.dataSource, actor.principal.tenantId);
    await this.ctx.vault.requireChangeable(sql, actor, id);
    return true;
  }
}
