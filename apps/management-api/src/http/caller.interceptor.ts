import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Context, type ManagementContext } from '../context';
import { checkKey } from './check-key';
import { checkPermission } from './check-permission';
import { requestOf } from './request';

/** Looks up caller and permission again, because a body may take minutes to arrive. */
@Injectable()
export class CallerInterceptor implements NestInterceptor {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context);
    request.principal = await checkKey(this.ctx, request);
    checkPermission(request.principal, context.getHandler());
    return next.handle();
  }
}
