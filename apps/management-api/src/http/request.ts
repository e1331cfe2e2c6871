import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor, Principal } from '@glovebox/access';
import type { Author } from '../changes/change';
import type { Claim } from '../changes/idempotency';

/** A request, with what the steps before the handler have found out about it. */
export interface ApiRequest extends Request {
  traceId: string;
  /** Set by checkKey, as is the hash of the key, by which the caller is looked up again. */
  keyHash?: string;
  principal?: Principal;
  /** Set by the IdempotencyInterceptor for a call with an idempotency key. */
  claim?: Claim;
  /** Set by checkResource: the row that the path names. */
  resource?: object;
}

export const requestOf = (context: ExecutionContext): ApiRequest =>
  context.switchToHttp().getRequest<ApiRequest>();

export function actorOf({ principal, traceId }: ApiRequest): Actor {
  if (!principal) throw new Error('The request has not passed checkKey');
  return { principal, traceId };
}

/** Who calls, and under which trace id. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  actorOf(requestOf(context)),
);

/** The author of a change: the caller, with the claim of the call. */
export const ChangedBy = createParamDecorator((_: unknown, context: ExecutionContext): Author => {
  const request = requestOf(context);
  const { principal, traceId } = actorOf(request);
  const { tenantId, applicationId } = principal;
  return { tenantId, actorId: applicationId, traceId, claim: request.claim };
});

/** The claim of the call, for a handler whose outcome its service stores itself. */
export const Claimed = createParamDecorator(
  (_: unknown, context: ExecutionContext) => requestOf(context).claim,
);

/** The row that `@OfResource` has loaded. */
export const Loaded = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { resource } = requestOf(context);
  if (!resource) throw new Error('The handler lacks @OfResource');
  return resource;
});
