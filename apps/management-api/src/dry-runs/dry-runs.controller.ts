import type { Actor } from '@glovebox/access';
import { Body, Controller, Header, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Context, type ManagementContext } from '../context';
import { BodyBytesMax, FreeMembers } from '../http/body.interceptor';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import { whileThere } from '../http/while-there';
import { BodyRoom } from '../shares/body-room';
import { RehearseProxy, RehearseReactor } from './dry-runs.dto';
import type { Waiting } from './hand-over';
import { DryRunsService } from './dry-runs.service';

const reactorBytesMax = 4 * 1024 * 1024;
const proxyBytesMax = 8 * 1024 * 1024;
/** A gateway in front gives up a management API that is silent for longer than a few of these. */
const atWorkMs = 5_000;

type Inspectable = Pick<RehearseReactor | RehearseProxy, 'inspect'>;

@Controller()
export class DryRunsController {
  constructor(
    @Context() private readonly ctx: ManagementContext,
    private readonly dryRuns: DryRunsService,
  ) {}

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
    return this.#answer(actor, response, input, (waiting) =>
      this.dryRuns.reactor(actor, input, waiting),
    );
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
    return this.#answer(actor, response, input, (waiting) =>
      this.dryRuns.proxy(actor, input, waiting),
    );
  }

  async #answer(
    { principal }: Actor,
    response: Response,
    input: Inspectable,
    work: (waiting: Waiting) => Promise<Buffer>,
  ): Promise<Buffer> {
    const room = new BodyRoom(this.ctx.bodies, principal.tenantId);
    const stop = sayAtWork(response, input);
    try {
      return await whileThere(response, (signal) => work({ signal, room }));
    } finally {
      stop();
      // The reply takes room for what it sends, until its caller has read it.
      room.leave();
    }
  }
}

/** An author may look for minutes at code that a debugger holds. Nobody is to take that for silence. */
function sayAtWork(response: Response, { inspect }: Inspectable): () => void {
  if (inspect === undefined) return () => undefined;
  const timer = setInterval(() => response.writeProcessing(), atWorkMs);
  return () => clearInterval(timer);
}
