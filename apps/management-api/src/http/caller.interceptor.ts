import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Context, type ManagementContext } from '../context';
import { identify } from './key.guard';
import { requireHandler } from './permission.guard';
import { requestOf } from './request';

/** A body may take minutes to come: behind it, who calls and what they may is looked up again. */
@Injectable()
export class CallerInterceptor implements NestInterceptor {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context);
    request.principal = await identify(this.ctx, request);
    requireHandler(request.principal, context.getHandler());
    return next.handle();
  }
}
