import type { Actor } from '@glovebox/access';
import type { Claim } from '@glovebox/idempotency';
import type { RunQuery } from '@glovebox/runs';
import { Body, Controller, Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { Proxy } from '../entities/proxy.entity';
import { Reactor } from '../entities/reactor.entity';
import { NotForPeople, RequirePermission } from '../http/check-permission';
import { OfResource } from '../http/check-resource';
import { Caller, ClaimOfCall, LoadedResource } from '../http/request';
import type { Page } from '../lists/page';
import { RerunService } from './rerun.service';
import {
  OwnRunListing,
  RerunInput,
  RunListing,
  type RerunResponse,
  type RunDetails,
} from './runs.dto';
import { RunsService } from './runs.service';

@Controller('runs')
export class RunsController {
  constructor(
    private readonly runs: RunsService,
    private readonly reruns: RerunService,
  ) {}

  @Get()
  @RequirePermission('log:read')
  list(@Caller() actor: Actor, @RunListing() query: RunQuery): Promise<Page> {
    return this.runs.list(actor, query);
  }

  @Get(':id')
  @RequirePermission('log:read')
  get(@Caller() actor: Actor, @Param('id') id: string): Promise<RunDetails> {
    return this.runs.get(actor, id);
  }

  @Post(':id/rerun')
  @HttpCode(202)
  @RequirePermission('token:use')
  rerun(
    @Caller() actor: Actor,
    @Param('id') id: string,
    @Body() input: RerunInput,
    @ClaimOfCall() claim: Claim | undefined,
  ): Promise<RerunResponse> {
    return this.reruns.rerun(actor, id, input, claim);
  }
}

@Controller('reactors/:id')
export class ReactorRunsController {
  constructor(private readonly runs: RunsService) {}

  @Get('runs')
  @RequirePermission('log:read')
  @OfResource(Reactor)
  list(
    @Caller() actor: Actor,
    @LoadedResource() { id: resourceId }: Reactor,
    @OwnRunListing() query: RunQuery,
  ): Promise<Page> {
    return this.runs.list(actor, { ...query, resourceId });
  }

  /** A run may be kept for longer than its resource. */
  @Get('runs/:run_id')
  @RequirePermission('log:read')
  get(
    @Caller() actor: Actor,
    @Param('id') id: string,
    @Param('run_id') runId: string,
  ): Promise<RunDetails> {
    return this.runs.getOf(actor, id, runId);
  }

  @Get('results/:request_id')
  @Header('Content-Type', 'application/json')
  @RequirePermission('token:use')
  @NotForPeople('A result may hold data: its application reads it.')
  @OfResource(Reactor)
  result(
    @Caller() actor: Actor,
    @LoadedResource() { id }: Reactor,
    @Param('request_id') requestId: string,
  ): Promise<Buffer> {
    return this.runs.result(actor, id, requestId);
  }
}

@Controller('proxies/:id/runs')
export class ProxyRunsController {
  constructor(private readonly runs: RunsService) {}

  @Get()
  @RequirePermission('log:read')
  @OfResource(Proxy)
  list(
    @Caller() actor: Actor,
    @LoadedResource() { id: resourceId }: Proxy,
    @OwnRunListing() query: RunQuery,
  ): Promise<Page> {
    return this.runs.list(actor, { ...query, resourceId });
  }

  @Get(':run_id')
  @RequirePermission('log:read')
  get(
    @Caller() actor: Actor,
    @Param('id') id: string,
    @Param('run_id') runId: string,
  ): Promise<RunDetails> {
    return this.runs.getOf(actor, id, runId);
  }
}
