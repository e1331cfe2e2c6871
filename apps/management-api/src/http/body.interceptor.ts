import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type CustomDecorator,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { inSlices } from '@glovebox/expressions';
import { isJsonObject, readBody, StrictJson, type FreeMembers as Free } from '@glovebox/wire';
import { Context, type ManagementContext } from '../context';
import { BodyMembers } from '../openapi/body-members';
import { BodyRoom, smallBodyBytesMax } from '../shares/body-room';
import { actorOf, requestOf, type ApiRequest } from './request';

const metadata = 'body-bytes-max';
const bodyBytesMax = 1024 * 1024;

/** Raises the size limit for the bodies of a handler. */
export const BodyBytesMax = (bytes: number): CustomDecorator => SetMetadata(metadata, bytes);

const freeMetadata = 'body-free-members';

/** Names members that may hold any JSON, which is kept exactly. */
export const FreeMembers = (...names: string[]): CustomDecorator =>
  SetMetadata(freeMetadata, names);

/** Lets the whole body be any JSON, which is kept exactly. */
export const FreeBody = (): CustomDecorator => SetMetadata(freeMetadata, 'all');

const strictMetadata = 'body-strict-member';

/** Refuses what is not known in this member, whatever the caller asks for. */
export const StrictMember = (name: string): CustomDecorator => SetMetadata(strictMetadata, name);

/** Reads the body after all checks have passed. A refused caller never makes us hold a body. */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(
    @Context() private readonly ctx: ManagementContext,
    private readonly reflector: Reflector,
    private readonly members: BodyMembers,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context);
    const bytesMax = this.reflector.get<number | undefined>(metadata, context.getHandler());
    const free = this.reflector.get<Free | undefined>(freeMetadata, context.getHandler());
    const isStrict = this.ctx.headers.isStrict(request);
    const room = new BodyRoom(this.ctx.bodies, actorOf(request).principal.tenantId);
    try {
      const json = new StrictJson(free);
      const bytes = await readBody(request, bytesMax ?? bodyBytesMax, room, json.count);
      if (bytes.length > smallBodyBytesMax) await room.takeTurn(context);
      request.body = bytes.length === 0 ? {} : await inSlices(json.parse(bytes));
      await this.#lookForUnknown(context, request, isStrict);
    } catch (error) {
      room.leave();
      throw error;
    }
    return next.handle().pipe(finalize(() => room.leave()));
  }

  async #lookForUnknown(
    context: ExecutionContext,
    request: ApiRequest,
    isStrict: boolean,
  ): Promise<void> {
    const { method, route } = request as { method: string; route: { path: string } };
    const body: unknown = request.body;
    const unknown = await inSlices(this.members.unknownIn(method, route.path, body));
    unknown.tell(this.ctx.headers, context.switchToHttp().getResponse<Response>());
    if (isStrict) return unknown.refuse();
    const strict = this.reflector.get<string | undefined>(strictMetadata, context.getHandler());
    if (strict === undefined || !isJsonObject(body)) return;
    const alone = { [strict]: body[strict] };
    (await inSlices(this.members.unknownIn(method, route.path, alone))).refuse();
  }
}
