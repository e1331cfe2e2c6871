import type { Actor } from '@glovebox/access';
import { Body, Controller, Header, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { BodyBytesMax, FreeMembers } from '../http/body.interceptor';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import { whileThere } from '../http/while-there';
import { RehearseProxy, RehearseReactor } from './dry-runs.dto';
import { DryRunsService } from './dry-runs.service';

const reactorBytesMax = 2 * 1024 * 1024;
const proxyBytesMax = 4 * 1024 * 1024;

@Controller()
export class DryRunsController {
  constructor(private readonly dryRuns: DryRunsService) {}

  @Post('reactors/dry-runs')
  @HttpCode(200)
  @Header('Content-Type', 'application/json')
  @RequirePermission('reactor:update')
  @BodyBytesMax(reactorBytesMax)
  @FreeMembers('args')
  reactor(
    @Caller() actor: Actor,
    @Body() input: RehearseReactor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Buffer> {
    return whileThere(response, (signal) => this.dryRuns.reactor(actor, input, signal));
  }

  @Post('proxies/dry-runs')
  @HttpCode(200)
  @Header('Content-Type', 'application/json')
  @RequirePermission('proxy:update')
  @BodyBytesMax(proxyBytesMax)
  proxy(
    @Caller() actor: Actor,
    @Body() input: RehearseProxy,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Buffer> {
    return whileThere(response, (signal) => this.dryRuns.proxy(actor, input, signal));
  }
}
