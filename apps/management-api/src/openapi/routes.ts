import { RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { permissionOf } from '../http/check-permission';
import { isTagged } from '../http/entity-tags';
import { membersOf, type Dto } from '../validation/dto-members';

/** An operation, as a controller declares it. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Contains `{name}` for each parameter. */
  readonly path: string;
  readonly status: number;
  readonly permission: string | undefined;
  /** Its answers have an ETag. */
  readonly isTagged: boolean;
  /** The DTO class of the body. */
  readonly body: Dto | undefined;
}

/** Takes If-Match: it changes what is there. */
export const isConditional = ({ isTagged, method, status }: ApiRoute): boolean =>
  isTagged && method !== 'GET' && status !== 201;

export function routesOf(controllers: readonly Type[]): ApiRoute[] {
  return controllers.flatMap((controller) => {
    const handlers = controller.prototype as Record<string, object>;
    return Object.getOwnPropertyNames(handlers)
      .filter((name) => metadata(METHOD_METADATA, handlers[name]) !== undefined)
      .map((name) => routeOf(controller, name));
  });
}

function routeOf(controller: Type, name: string): ApiRoute {
  const handler = (controller.prototype as Record<string, object>)[name];
  const method = RequestMethod[Number(metadata(METHOD_METADATA, handler))] as ApiRoute['method'];
  return {
    method,
    path: pathTemplate(
      String(metadata(PATH_METADATA, controller)),
      String(metadata(PATH_METADATA, handler)),
    ),
    status: Number(metadata(HTTP_CODE_METADATA, handler) ?? (method === 'POST' ? 201 : 200)),
    permission: handler && permissionOf(handler),
    isTagged: handler !== undefined && isTagged(handler),
    body: bodyOf(controller, name),
  };
}

/** The path with `{name}` for each parameter, of a controller and its handler or of a route. */
export function pathTemplate(...parts: string[]): string {
  const segments = parts.flatMap((part) => part.split('/')).filter((segment) => segment !== '');
  return `/${segments.join('/')}`.replaceAll(/:(\w+)/g, '{$1}');
}

function bodyOf(controller: Type, name: string): Dto | undefined {
  const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) as
    | Record<string, { index: number }>
    | undefined;
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) as
    | Dto[]
    | undefined;
  const body = Object.entries(args ?? {}).find(([key]) =>
    key.startsWith(`${RouteParamtypes.BODY}:`),
  );
  const type = body && types?.[body[1].index];
  return type && membersOf(type).length > 0 ? type : undefined;
}

function metadata(key: string, target: object | undefined): unknown {
  return target && (Reflect.getMetadata(key, target) as unknown);
}
