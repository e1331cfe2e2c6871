import type { Actor } from '@glovebox/access';
import { Body, Controller, Header, HttpCode, Post } from '@nestjs/common';
import { BodyBytesMax, FreeBody } from '../http/body.interceptor';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import { TokensService } from '../tokens/tokens.service';

/** As much as expressions may expand to. */
const documentBytesMax = 10 * 1024 * 1024;

/** Whole documents: values into tokens, and back. */
@Controller()
export class TokenizeController {
  constructor(private readonly tokens: TokensService) {}

  @Post('tokenize')
  @Header('Content-Type', 'application/json')
  @RequirePermission('token:create')
  @BodyBytesMax(documentBytesMax)
  @FreeBody()
  tokenize(@Caller() actor: Actor, @Body() document: unknown): Promise<string> {
    return this.tokens.tokenize(actor, document);
  }

  @Post('detokenize')
  @HttpCode(200)
  @Header('Content-Type', 'application/json')
  @RequirePermission('token:read')
  @BodyBytesMax(documentBytesMax)
  @FreeBody()
  detokenize(@Caller() actor: Actor, @Body() document: unknown): Promise<string> {
    return this.tokens.detokenize(actor, document);
  }
}
