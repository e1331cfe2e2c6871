import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, lastValueFrom, of, type Observable } from 'rxjs';
import type { Sql } from '@glovebox/database';
import type { Problem } from '@glovebox/problems';
import { describeError } from '@glovebox/service-host';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import {
  claimCall,
  keyedHash,
  statusesNotStored,
  release,
  repeatedAnswer,
  replayHeader,
  requireIdempotencyKey,
  storeProblem,
  type CallName,
  type Claim,
  type Replay,
} from '@glovebox/idempotency';
import { problemOf } from './problem.filter';
import { actorOf, requestOf, type ApiRequest } from './request';

/** The outcome is stored with the change, so the work of an owner that died left nothing. */
const leaseSeconds = 30;

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
      const again = () => this.#answerAgain(request, claimed);
      const { largeOpenings } = this.ctx.vault;
      const answer = await (claimed.isLarge
        ? largeOpenings.hold(claimed.tenantId, again)
        : again());
      response.setHeader(replayHeader, 'true');
      if (answer.length > 0) response.type('json');
      response.status(claimed.status);
      return of(answer.length > 0 ? answer : undefined);
    }
    request.claim = claimed;
    return from(this.#run(claimed, next));
  }

  #keyOf(request: ApiRequest): string | undefined {
    return requireIdempotencyKey(this.ctx.headers.read(request, 'idempotency-key'));
  }

  async #claim(request: ApiRequest, key: string, status: number) {
    const { sealer } = this.ctx;
    const { tenantId, actorId: applicationId } = actorOf(request).principal;
    const [keyHash, bodyHash] = await Promise.all([
      keyedHash(sealer, key),
      keyedHash(sealer, JSON.stringify(request.body)),
    ]);
    const name: CallName = { tenantId, applicationId, path: pathOf(request), keyHash };
    return this.#withSql(name, (sql) =>
      claimCall(sql, name, { bodyHash, status, leaseSeconds, takenOverBy: 'any' }),
    );
  }

  async #answerAgain(request: ApiRequest, replay: Replay): Promise<Buffer> {
    const { dataSource, sealer, definitions } = this.ctx;
    const actor = actorOf(request);
    const { tenantId } = actor.principal;
    const current = await definitions.follower.current();
    // A statement of its own: the record of a refusal stays.
    return repeatedAnswer(eachInTenant(dataSource, tenantId), sealer, replay, {
      actor,
      entityType: 'tenant',
      entityId: tenantId,
      principalOf: (id) => current.principal(tenantId, id),
    });
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
      statusesNotStored.has(problem.status)
        ? release(sql, claim)
        : storeProblem(sql, this.ctx.sealer, claim, problem),
    );
  }

  /** A failure here does not change the answer: the claim expires by itself. */
  async #afterwards(claim: Claim, work: (sql: Sql) => Promise<void>): Promise<void> {
    try {
      await this.#withSql(claim, work);
    } catch (error) {
      this.ctx.logger.warn(
        { error: describeError(error) },
        'the claim of a call could not be completed',
      );
    }
  }

  #withSql<Result>(
    { tenantId }: Pick<CallName, 'tenantId'>,
    work: (sql: Sql) => Promise<Result>,
  ): Promise<Result> {
    return inTenant(this.ctx.dataSource, tenantId, (manager) => work(asSql(manager)));
  }
}

/** Slashes at the end and letters of ids make no difference. */
function pathOf({ path }: ApiRequest): string {
  return path.toLowerCase().replace(/\/+$/, '');
}
