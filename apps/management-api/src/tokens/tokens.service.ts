import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import type { Sql } from '@glovebox/database';
import {
  requireTokenId,
  Sights,
  tokenMembers,
  type FoundParts,
  type TokenView,
} from '@glovebox/vault';
import { fromWire, toWire, type OnWire } from '@glovebox/wire';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { storeAnswer, type Claim } from '@glovebox/idempotency';
import { Page, toJson } from '../lists/page';
import {
  toSearchPage,
  type CreateToken,
  type SearchTokens,
  type TokenListQuery,
} from './tokens.dto';

/** A token as the API shows it. */
export type TokenAnswer = OnWire<TokenView>;

/** Serves the vault over HTTP: transactions, pages and outcomes of idempotent calls. */
@Injectable()
export class TokensService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  create(
    actor: Actor,
    input: CreateToken,
    claim: Claim | undefined,
  ): Promise<{ readonly answer: TokenAnswer; readonly isNew: boolean }> {
    const { sealer, vault } = this.ctx;
    return this.#transaction(actor, async (sql) => {
      const sights = new Sights();
      const viewer = { ...actor, sights };
      const token = await vault.createToken(sql, viewer, fromWire(tokenMembers, input));
      const answer = toWire(token.view);
      // An older token is looked up for each answer.
      if (token.isNew) {
        const text = JSON.stringify(answer);
        await storeAnswer(sql, sealer, claim, { text, sights: sights.list() });
      }
      return { answer, isNew: token.isNew };
    });
  }

  async get(actor: Actor, id: string): Promise<TokenAnswer> {
    const sql = this.#statements(actor);
    return toWire(await this.ctx.vault.readToken(sql, actor, requireTokenId(id)));
  }

  async list(actor: Actor, { filter, ...query }: TokenListQuery): Promise<Page> {
    const { searches, vault } = this.ctx;
    const isSearch = Object.keys(filter.metadata ?? {}).length > 0;
    const found = await searches[isSearch ? 'search' : 'list'](actor.principal.tenantId, (sql) =>
      vault.findListed(sql, actor, filter, query),
    );
    return this.#pageOf(actor, found);
  }

  async search(actor: Actor, input: SearchTokens): Promise<Page> {
    const { searches, vault } = this.ctx;
    const page = toSearchPage(input);
    const found = await searches.search(actor.principal.tenantId, (sql) =>
      vault.findSearched(sql, actor, input.query, page),
    );
    return this.#pageOf(actor, found);
  }

  async update(actor: Actor, id: string, patch: unknown): Promise<TokenAnswer> {
    const changed = await this.#transaction(actor, (sql) =>
      this.ctx.vault.updateToken(sql, actor, requireTokenId(id), patch),
    );
    return toWire(changed);
  }

  remove(actor: Actor, id: string): Promise<void> {
    return this.#transaction(actor, (sql) =>
      this.ctx.vault.deleteToken(sql, actor, requireTokenId(id)),
    );
  }

  /** Returns JSON text: Nest would send a document that is a string without its quotes. */
  tokenize(actor: Actor, document: unknown, claim: Claim | undefined): Promise<string> {
    const { sealer, vault } = this.ctx;
    return this.#transaction(actor, async (sql) => {
      const sights = new Sights();
      const text = JSON.stringify(await vault.tokenize(sql, { ...actor, sights }, document));
      await storeAnswer(sql, sealer, claim, { text, sights: sights.list() });
      return text;
    });
  }

  async detokenize(actor: Actor, document: unknown): Promise<string> {
    return JSON.stringify(await this.ctx.vault.resolve(actor, document));
  }

  /** Each statement that reads tokens has a place among the lists, and none between two batches. */
  #pageOf({ principal }: Actor, { pagination, parts }: FoundParts): Page {
    const sql: Sql = {
      query: (statement, values) =>
        this.ctx.searches.list(principal.tenantId, (one) => one.query(statement, values)),
    };
    const show = (tokens: AsyncIterable<TokenView>): Promise<Buffer[]> => toJson(tokens, toWire);
    return new Page(pagination, {
      whenSmall: () => parts.whenSmall(sql, show),
      inBatches: () => parts.inParts(sql, show),
    });
  }

  #transaction<Result>({ principal }: Actor, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return inTenant(this.ctx.dataSource, principal.tenantId, (manager) => work(asSql(manager)));
  }

  /** Each statement commits by itself, so that the record of a refusal stays. */
  #statements({ principal }: Actor): Sql {
    return eachInTenant(this.ctx.dataSource, principal.tenantId);
  }
}
