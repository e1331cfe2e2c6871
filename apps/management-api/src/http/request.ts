import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor, Principal } from '@glovebox/access';
import type { Problem } from '@glovebox/problems';
import type { Author } from '../changes/change';
import type { Session } from '../console/sessions';
import type { EntityTags } from './entity-tags';
import type { Claim } from '@glovebox/idempotency';

/** A request with the findings of the steps before the handler. */
export interface ApiRequest extends Request {
  traceId: string;
  /** The hash of the API key, set by checkKey and used to look up the caller again. */
  keyHash?: string;
  principal?: Principal;
  /** It came to the listener of the console, which admits sessions alone. */
  isOfConsole?: true;
  /** Of a person, set by checkSession. */
  session?: Session;
  /** Looks up the caller and its permission once more, after a wait. Set by the guard. */
  checkAgain?: () => Promise<Actor>;
  /** When the caller, its permission and what the path names had been checked. */
  decidedAt?: number;
  /** The problem that it was answered with. */
  problem?: Problem;
  /** Set by the IdempotencyInterceptor for a POST with an idempotency key. */
  claim?: Claim;
  /** The token that the call has made. */
  madeTokenId?: string;
  /** Set by the guard where the resource has versions. */
  tags?: EntityTags;
  /** The row that the path names, set by checkResource. */
  resource?: object;
}

export const requestOf = (context: ExecutionContext): ApiRequest =>
  context.switchToHttp().getRequest<ApiRequest>();

export function actorOf({ principal, traceId }: ApiRequest): Actor {
  if (!principal) throw new Error('The request has not passed checkKey');
  return { principal, traceId };
}

/** The caller, with the trace id of the call. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  actorOf(requestOf(context)),
);

/** Gives the caller as it is after a wait, or throws. */
export const CallerLater = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { checkAgain } = requestOf(context);
  if (!checkAgain) throw new Error('The request has not passed the guard');
  return checkAgain;
});

/** The author of a change: the caller, with the claim of the call. */
export const ChangedBy = createParamDecorator((_: unknown, context: ExecutionContext): Author => {
  const request = requestOf(context);
  const { principal, traceId } = actorOf(request);
  const { tenantId, actorId, type } = principal;
  const { claim, tags } = request;
  const author = { tenantId, actorId, traceId, claim, tags };
  return type === 'person' ? { ...author, person: principal } : author;
});

/** The claim of the call, for a handler whose outcome its service stores itself. */
export const ClaimOfCall = createParamDecorator(
  (_: unknown, context: ExecutionContext) => requestOf(context).claim,
);

/** What the call says of versions, for a handler that no row is loaded for. */
export const TagsOfCall = createParamDecorator(
  (_: unknown, context: ExecutionContext) => requestOf(context).tags,
);

/** Makes a decorator that hands the query of the call to the handler, as `read` checks it. */
export const queryReadBy = <Query>(read: (query: URLSearchParams) => Query) =>
  createParamDecorator((_: unknown, context: ExecutionContext) =>
    read(new URL(requestOf(context).originalUrl, 'http://localhost').searchParams),
  );

/** The row that `@OfResource` has loaded. */
export const LoadedResource = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { resource } = requestOf(context);
  if (!resource) throw new Error('The handler lacks @OfResource');
  return resource;
});
