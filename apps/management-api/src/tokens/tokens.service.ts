import { Injectable } from '@nestjs/common';
import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { Actor, TokenView } from '@glovebox/vault';
import { Context, type ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';
import { storeOutcome } from '../idempotency';
import type { CreateToken } from './tokens.dto';

@Injectable()
export class TokensService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  create(actor: Actor, input: CreateToken): Promise<TokenView> {
    const { dataSource, sealer, vault } = this.ctx;
    return inTenant(dataSource, actor.principal.tenantId, async (manager) => {
      const token = await vault.createToken(asSql(manager), actor, input);
      await storeOutcome(asSql(manager), sealer, token);
      return token;
    });
  }

  async get(actor: Actor, id: string): Promise<TokenView> {
    if (!isTokenId(id)) throw new Problem('not_found');
    const { dataSource, vault } = this.ctx;
    return inTenant(dataSource, actor.principal.tenantId, (manager) =>
      vault.readToken(asSql(manager), actor, normalTokenId(id)),
    );
  }
}
