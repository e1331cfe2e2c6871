import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type CustomDecorator,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import type { Observable } from 'rxjs';
import { Problem } from '@glovebox/problems';
import { decodeUtf8, parseStrictJson, type JsonRules } from '@glovebox/service-host';
import { requestOf } from './request';

const metadata = 'body-bytes-max';
export const bodyBytesMax = 1024 * 1024;

/** For handlers whose bodies may be larger than others. */
export const BodyBytesMax = (bytes: number): CustomDecorator => SetMetadata(metadata, bytes);

const freeMetadata = 'body-free-members';

/** Members whose value is the customer's own: any JSON, kept exactly. */
export const FreeMembers = (...names: string[]): CustomDecorator =>
  SetMetadata(freeMetadata, names);

/** For handlers whose whole body is the customer's own. */
export const FreeBody = (): CustomDecorator => SetMetadata(freeMetadata, 'all');

const withBody = new Set(['POST', 'PUT', 'PATCH']);

/** Reads the body once all guards have let the caller pass: nobody else makes us hold one. */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context);
    if (withBody.has(request.method)) {
      const bytesMax = this.reflector.get<number | undefined>(metadata, context.getHandler());
      const bytes = await readBody(request, bytesMax ?? bodyBytesMax);
      const free = this.reflector.get<JsonRules['free']>(freeMetadata, context.getHandler());
      request.body =
        bytes.length === 0 ? {} : parseStrictJson(decodeUtf8(bytes), { free: free ?? [] });
    }
    return next.handle();
  }
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  try {
    // The connection stays for the answer, behind which the rest of the body is read and dropped.
    const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    for await (const chunk of body) {
      received += chunk.length;
      if (received > bytesMax) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Problem('invalid_request', { detail: 'The body broke off.', cause: error });
  }
  if (received > bytesMax) throw tooLarge(bytesMax);
  return Buffer.concat(chunks);
}

function tooLarge(bytesMax: number): Problem {
  return new Problem('payload_too_large', { detail: `The body is limited to ${bytesMax} bytes.` });
}
