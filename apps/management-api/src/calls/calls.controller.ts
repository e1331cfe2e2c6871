import type { Actor } from '@glovebox/access';
import type { CallQuery, SummaryQuery } from '@glovebox/calls';
import { Controller, Get, Param } from '@nestjs/common';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import type { Page } from '../lists/page';
import {
  CallListing,
  SummaryListing,
  type CallResponse,
  type CallSummaryResponse,
} from './calls.dto';
import { CallsService } from './calls.service';

@Controller('calls')
export class CallsController {
  constructor(private readonly calls: CallsService) {}

  @Get()
  @RequirePermission('log:read')
  list(@Caller() actor: Actor, @CallListing() query: CallQuery): Promise<Page> {
    return this.calls.list(actor, query);
  }

  @Get('summary')
  @RequirePermission('log:read')
  summary(
    @Caller() actor: Actor,
    @SummaryListing() query: SummaryQuery,
  ): Promise<CallSummaryResponse> {
    return this.calls.summary(actor, query);
  }

  @Get(':id')
  @RequirePermission('log:read')
  get(@Caller() actor: Actor, @Param('id') id: string): Promise<CallResponse> {
    return this.calls.get(actor, id);
  }
}
