import type { Actor } from '@glovebox/access';
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { Response } from 'express';
import type { Claim } from '@glovebox/idempotency';
import { BodyBytesMax, FreeMembers } from '../http/body.interceptor';
import { RequirePermission } from '../http/check-permission';
import { Caller, ClaimOfCall, type ApiRequest } from '../http/request';
import type { Page } from '../lists/page';
import type { MergePatch } from '../validation/patched-dto';
import { TokenGuard } from './token.guard';
import { CreateToken, SearchTokens, TokenListing, type TokenListQuery } from './tokens.dto';
import { TokensService, type TokenAnswer } from './tokens.service';

/** Allows for 1 MiB of data as JSON with escapes. */
const tokenBodyBytesMax = 4 * 1024 * 1024;

@Controller('tokens')
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  /** Answers 200 if an existing token with the same fingerprint is returned instead of a new one. */
  @Post()
  @RequirePermission('token:create')
  @BodyBytesMax(tokenBodyBytesMax)
  @FreeMembers('data', 'mask')
  async create(
    @Caller() actor: Actor,
    @Body() input: CreateToken,
    @ClaimOfCall() claim: Claim | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TokenAnswer> {
    const { answer, isNew } = await this.tokens.create(actor, input, claim);
    if (!isNew) response.status(200);
    (response.req as ApiRequest).madeTokenId = answer.id;
    return answer;
  }

  @Get()
  @RequirePermission('token:read')
  list(@Caller() actor: Actor, @TokenListing() query: TokenListQuery): Promise<Page> {
    return this.tokens.list(actor, query);
  }

  @Post('search')
  @HttpCode(200)
  @RequirePermission('token:search')
  search(@Caller() actor: Actor, @Body() input: SearchTokens): Promise<Page> {
    return this.tokens.search(actor, input);
  }

  @Get(':id')
  @RequirePermission('token:read')
  get(@Caller() actor: Actor, @Param('id') id: string): Promise<TokenAnswer> {
    return this.tokens.get(actor, id);
  }

  @Patch(':id')
  @RequirePermission('token:update')
  @UseGuards(TokenGuard)
  @BodyBytesMax(tokenBodyBytesMax)
  @FreeMembers('data', 'mask')
  patch(
    @Caller() actor: Actor,
    @Param('id') id: string,
    @Body() patch: MergePatch,
  ): Promise<TokenAnswer> {
    return this.tokens.update(actor, id, patch);
  }

  @Delete(':id')
  @HttpCode(204)
  @RequirePermission('token:delete')
  remove(@Caller() actor: Actor, @Param('id') id: string): Promise<void> {
    return this.tokens.remove(actor, id);
  }
}
