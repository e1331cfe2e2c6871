import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor, Principal } from '@glovebox/access';

/** A request, with what the steps before the handler have found out about it. */
export interface ApiRequest extends Request {
  traceId: string;
  /** Set by checkKey, as is the hash of the key, by which the caller is looked up again. */
  keyHash?: string;
  principal?: Principal;
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

/** The row that `@OfResource` has loaded. */
export const Loaded = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { resource } = requestOf(context);
  if (!resource) throw new Error('The handler lacks @OfResource');
  return resource;
});
