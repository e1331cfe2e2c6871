import { RequestMethod, UseInterceptors, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { BodyInterceptor } from './body.interceptor';
import { CallerInterceptor } from './caller.interceptor';
import { IdempotencyInterceptor } from './idempotency.interceptor';

const withBody = new Set([RequestMethod.POST, RequestMethod.PUT, RequestMethod.PATCH]);

const addBodySteps = UseInterceptors(BodyInterceptor, CallerInterceptor, IdempotencyInterceptor);

/** Adds the steps to handlers that take a body, and to no others: each step costs time per call. */
export function interceptBodies(controllers: readonly Type[]): void {
  for (const { prototype } of controllers as readonly { prototype: object }[]) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const method: unknown = Reflect.getMetadata(METHOD_METADATA, descriptor.value as object);
      if (withBody.has(method as RequestMethod)) addBodySteps(prototype, name, descriptor);
    }
  }
}
