import type { Actor } from '@glovebox/access';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { Claim } from '@glovebox/idempotency';
import { BodyBytesMax, FreeBody } from '../http/body.interceptor';
import { RequirePermission } from '../http/check-permission';
import { Caller, ClaimOfCall } from '../http/request';
import { TokensService } from '../tokens/tokens.service';

/** Equals the bytes that expressions may expand to. */
const documentBytesMax = 10 * 1024 * 1024;

/** Turns the values of whole documents into tokens, and back. */
@Controller()
export class TokenizeController {
  constructor(private readonly tokens: TokensService) {}

  @Post('tokenize')
  @RequirePermission('token:create')
  @BodyBytesMax(documentBytesMax)
  @FreeBody()
  tokenize(
    @Caller() actor: Actor,
    @Body() document: unknown,
    @ClaimOfCall() claim: Claim | undefined,
  ): Promise<string> {
    return this.tokens.tokenize(actor, document, claim);
  }

  @Post('detokenize')
  @HttpCode(200)
  @RequirePermission('token:read')
  @BodyBytesMax(documentBytesMax)
  @FreeBody()
  detokenize(@Caller() actor: Actor, @Body() document: unknown): Promise<string> {
    return this.tokens.detokenize(actor, document);
  }
}
