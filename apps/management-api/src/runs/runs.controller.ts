import type { Actor } from '@glovebox/access';
import { Controller, Get, Header, Param } from '@nestjs/common';
import { Proxy } from '../entities/proxy.entity';
import { Reactor } from '../entities/reactor.entity';
import { RequirePermission } from '../http/check-permission';
import { OfResource } from '../http/check-resource';
import { Caller, Loaded } from '../http/request';
import type { CursorPage } from '../lists/cursor';
import {
  OwnRunListing,
  RunListing,
  type RunDetails,
  type RunQuery,
  type RunResponse,
} from './runs.dto';
import { RunsService } from './runs.service';

@Controller('runs')
export class RunsController {
  constructor(private readonly runs: RunsService) {}

  @Get()
  @RequirePermission('log:read')
  list(@Caller() actor: Actor, @RunListing() query: RunQuery): Promise<CursorPage<RunResponse>> {
    return this.runs.list(actor, query);
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
    @Loaded() { id: resourceId }: Reactor,
    @OwnRunListing() query: RunQuery,
  ): Promise<CursorPage<RunResponse>> {
    return this.runs.list(actor, { ...query, resourceId });
  }

  @Get('runs/:run_id')
  @RequirePermission('log:read')
  @OfResource(Reactor)
  get(
    @Caller() actor: Actor,
    @Loaded() { id }: Reactor,
    @Param('run_id') runId: string,
  ): Promise<RunDetails> {
    return this.runs.get(actor, id, runId);
  }

  @Get('results/:request_id')
  @Header('Content-Type', 'application/json')
  @RequirePermission('token:use')
  @OfResource(Reactor)
  result(
    @Caller() actor: Actor,
    @Loaded() { id }: Reactor,
    @Param('request_id') requestId: string,
  ): Promise<string> {
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
    @Loaded() { id: resourceId }: Proxy,
    @OwnRunListing() query: RunQuery,
  ): Promise<CursorPage<RunResponse>> {
    return this.runs.list(actor, { ...query, resourceId });
  }

  @Get(':run_id')
  @RequirePermission('log:read')
  @OfResource(Proxy)
  get(
    @Caller() actor: Actor,
    @Loaded() { id }: Proxy,
    @Param('run_id') runId: string,
  ): Promise<RunDetails> {
    return this.runs.get(actor, id, runId);
  }
}
