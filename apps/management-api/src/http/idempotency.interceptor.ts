import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, of, type Observable } from 'rxjs';
import type { Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { describeError } from '@glovebox/service-host';
import { requireSights } from '@glovebox/vault';
import { Context, type ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';
import {
  claimCall,
  keyedHash,
  release,
  storeProblem,
  type CallName,
  type Claim,
} from '../changes/idempotency';
import { problemOf } from './problem.filter';
import { actorOf, requestOf, type ApiRequest } from './request';

const replayHeader = 'SVC-IDEMPOTENT-REPLAY';

/** Statuses that are not stored, because a retry of the call may succeed. */
const notStored = new Set([400, 401, 403, 404, 413, 415, 429, 503]);

/** Runs a POST with an idempotency key once, and answers repetitions with its stored outcome. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context);
    const key = request.method === 'POST' ? this.#keyOf(request) : undefined;
    if (key === undefined) return next.handle();

    const response = context.switchToHttp().getResponse<Response>();
    const claimed = await this.#claim(request, key, response.statusCode);
    if (!('owner' in claimed)) {
      requireSights(actorOf(request).principal, claimed.sights);
      response.setHeader(replayHeader, 'true');
      response.status(claimed.status);
      return of(claimed.body);
    }
    request.claim = claimed;
    return from(this.#run(claimed, next));
  }

  #keyOf(request: ApiRequest): string | undefined {
    const key = this.ctx.headers.read(request, 'idempotency-key');
    if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
    throw new Problem('invalid_request', {
      detail: 'The idempotency key must be 1 to 255 visible ASCII characters.',
    });
  }

  async #claim(request: ApiRequest, key: string, status: number) {
    const { sealer } = this.ctx;
    const { tenantId, applicationId } = actorOf(request).principal;
    const [keyHash, bodyHash] = await Promise.all([
      keyedHash(sealer, key),
      keyedHash(sealer, JSON.stringify(request.body)),
    ]);
    const name: CallName = { tenantId, applicationId, path: pathOf(request), keyHash };
    return this.#withSql(name, (sql) => claimCall(sql, sealer, name, { bodyHash, status }));
  }

  async #run(claim: Claim, next: CallHandler): Promise<unknown> {
    let result: unknown;
    try {
      result = await lastValueFrom(next.handle());
    } catch (thrown) {
      await this.#fail(claim, problemOf(thrown));
      throw thrown;
    }
    // The change has stored its outcome. A POST that changed nothing may be done again.
    if (!claim.isStored) await this.#afterwards(claim, (sql) => release(sql, claim));
    return result;
  }

  async #fail(claim: Claim, problem: Problem): Promise<void> {
    await this.#afterwards(claim, (sql) =>
      notStored.has(problem.status)
        ? release(sql, claim)
        : storeProblem(sql, this.ctx.sealer, claim, problem),
    );
  }

  /** A failure here does not change the answer: the claim expires by itself. */
  async #afterwards(claim: Claim, work: (sql: Sql) => Promise<void>): Promise<void> {
    try {
      await this.#withSql(claim, work);
    } catch (error) {
      this.ctx.logger.warn({ error: describeError(error) }, 'a claim was not concluded');
    }
  }

  #withSql<Result>(
    { tenantId }: Pick<CallName, 'tenantId'>,
    work: (sql: Sql) => Promise<Result>,
  ): Promise<Result> {
    return inTenant(this.ctx.dataSource, tenantId, (manager) => work(asSql(manager)));
  }
}

/** Normalizes the spellings of a path that the router treats as equal. */
function pathOf({ path }: ApiRequest): string {
  return path.toLowerCase().replace(/\/+$/, '');
}
