import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import type { Actor, TokenView } from '@glovebox/vault';
import { BodyBytesMax, FreeMembers } from '../http/body.interceptor';
import { RequirePermission } from '../http/permission.guard';
import { Caller } from '../http/request';
import { CreateToken } from './tokens.dto';
import { TokensService } from './tokens.service';

/** A token's data may be 1 MiB of JSON, and may come in escaped. */
const tokenBytesMax = 4 * 1024 * 1024;

@Controller('tokens')
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  @Post()
  @RequirePermission('token:create')
  @BodyBytesMax(tokenBytesMax)
  @FreeMembers('data')
  create(@Caller() actor: Actor, @Body() input: CreateToken): Promise<TokenView> {
    return this.tokens.create(actor, input);
  }

  @Get(':id')
  @RequirePermission('token:read')
  get(@Caller() actor: Actor, @Param('id') id: string): Promise<TokenView> {
    return this.tokens.get(actor, id);
  }
}
