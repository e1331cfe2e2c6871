import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { Sql } from '@glovebox/database';
import { sightsOf, type StoredToken, type TokenView } from '@glovebox/vault';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { storeOutcome, type Claim } from '../changes/idempotency';
import { toPage, type Page } from '../lists/listing';
import type { CreateToken, SearchTokens, TokenListQuery } from './tokens.dto';

/** Serves the vault over HTTP: transactions, pages and outcomes of idempotent calls. */
@Injectable()
export class TokensService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  create(actor: Actor, input: CreateToken, claim: Claim | undefined): Promise<StoredToken> {
    const { sealer, vault } = this.ctx;
    return this.#transaction(actor, async (sql) => {
      const token = await vault.createToken(sql, actor, input);
      // An existing token is looked up on every call, because the caller's grants on it may change.
      if (token.isNew) {
        const sights = sightsOf(actor.principal, [token]);
        await storeOutcome(sql, sealer, claim, token.view, { sights });
      }
      return token;
    });
  }

  get(actor: Actor, id: string): Promise<TokenView> {
    return this.ctx.vault.readToken(this.#statements(actor), actor, normalId(id));
  }

  async list(actor: Actor, { filter, ...query }: TokenListQuery): Promise<Page<TokenView>> {
    const { searches, vault } = this.ctx;
    const isSearch = Object.keys(filter.metadata ?? {}).length > 0;
    const found = await searches[isSearch ? 'search' : 'list'](actor.principal.tenantId, (sql) =>
      vault.listTokens(sql, actor, filter, query),
    );
    return toPage(query, found.total, found.tokens);
  }

  async search(
    actor: Actor,
    { query, page = 1, size = 20 }: SearchTokens,
  ): Promise<Page<TokenView>> {
    const { searches, vault } = this.ctx;
    const found = await searches.search(actor.principal.tenantId, (sql) =>
      vault.searchTokens(sql, actor, query, { page, size }),
    );
    return toPage({ page, size }, found.total, found.tokens);
  }

  update(actor: Actor, id: string, patch: unknown): Promise<TokenView> {
    return this.#transaction(actor, (sql) =>
      this.ctx.vault.updateToken(sql, actor, normalId(id), patch),
    );
  }

  remove(actor: Actor, id: string): Promise<void> {
    return this.#transaction(actor, (sql) => this.ctx.vault.deleteToken(sql, actor, normalId(id)));
  }

  /** Returns JSON text, because Nest would send a document that is a string without quotes. */
  tokenize(actor: Actor, document: unknown, claim: Claim | undefined): Promise<string> {
    const { sealer, vault } = this.ctx;
    return this.#transaction(actor, async (sql) => {
      const tokenized = await vault.tokenize(sql, actor, document);
      const answer = JSON.stringify(tokenized.document);
      const { lasting, sights } = tokenized;
      await storeOutcome(sql, sealer, claim, answer, { kept: JSON.stringify(lasting), sights });
      return answer;
    });
  }

  async detokenize(actor: Actor, document: unknown): Promise<string> {
    return JSON.stringify(await this.ctx.vault.resolve(actor, document));
  }

  #transaction<Result>({ principal }: Actor, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return inTenant(this.ctx.dataSource, principal.tenantId, (manager) => work(asSql(manager)));
  }

  /** Commits each statement by itself, so that the audit line of a refusal stays. */
  #statements({ principal }: Actor): Sql {
    return eachInTenant(this.ctx.dataSource, principal.tenantId);
  }
}

function normalId(id: string): string {
  if (!isTokenId(id)) throw new Problem('not_found');
  return normalTokenId(id);
}
