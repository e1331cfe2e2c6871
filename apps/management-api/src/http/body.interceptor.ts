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

/** For handlers whose bodies may be larger than others. */
export const BodyBytesMax = (bytes: number): CustomDecorator => SetMetadata(metadata, bytes);

const freeMetadata = 'body-free-members';

/** Members whose value is the customer's own: any JSON, kept exactly. */
export const FreeMembers = (...names: string[]): CustomDecorator =>
  SetMetadata(freeMetadata, names);

/** For handlers whose whole body is the customer's own. */
export const FreeBody = (): CustomDecorator => SetMetadata(freeMetadata, 'all');

/** Reads the body once all checks have let the caller pass: nobody else makes us hold one. */
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
