import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type CustomDecorator,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { finalize, type Observable } from 'rxjs';
import { inSlices } from '@glovebox/expressions';
import { readBody, StrictJson, type FreeMembers as Free } from '@glovebox/wire';
import { Context, type ManagementContext } from '../context';
import { BodyRoom, smallBodyBytesMax } from '../shares/body-room';
import { actorOf, requestOf } from './request';

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

/** Reads the body after all checks have passed. A refused caller never makes us hold a body. */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(
    @Context() private readonly ctx: ManagementContext,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context);
    const bytesMax = this.reflector.get<number | undefined>(metadata, context.getHandler());
    const free = this.reflector.get<Free | undefined>(freeMetadata, context.getHandler());
    const room = new BodyRoom(this.ctx.bodies, actorOf(request).principal.tenantId);
    try {
      const json = new StrictJson(free);
      const bytes = await readBody(request, bytesMax ?? bodyBytesMax, room, json.count);
      if (bytes.length > smallBodyBytesMax) await room.takeTurn(context);
      request.body = bytes.length === 0 ? {} : await inSlices(json.parse(bytes));
    } catch (error) {
      room.leave();
      throw error;
    }
    return next.handle().pipe(finalize(() => room.leave()));
  }
}
