import type { Actor } from '@glovebox/access';
import { Body, Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Author } from '../changes/change';
import { StrictMember } from '../http/body.interceptor';
import { PeopleNeed, RequirePermission } from '../http/check-permission';
import { Caller, ChangedBy } from '../http/request';
import type { Page } from '../lists/page';
import {
  DeliveryListing,
  ReplayDeliveries,
  type DeliveryQuery,
  type DeliveryResponse,
  type ReplayCount,
  type ReplayResponse,
} from './deliveries.dto';
import { DeliveriesService } from './deliveries.service';

@Controller('webhook-deliveries')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get()
  @RequirePermission('log:read')
  list(@Caller() actor: Actor, @DeliveryListing() query: DeliveryQuery): Promise<Page> {
    return this.deliveries.list(actor, query);
  }

  @Get(':id')
  @RequirePermission('log:read')
  get(@Caller() actor: Actor, @Param('id') id: string): Promise<DeliveryResponse> {
    return this.deliveries.get(actor, id);
  }

  @Post('replay')
  @HttpCode(202)
  @RequirePermission('tenant:update')
  @PeopleNeed('reactor:update')
  // A filter that is ignored would send again what it was meant to leave out.
  @StrictMember('filter')
  replayAll(
    @ChangedBy() author: Author,
    @Body() input: ReplayDeliveries,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ReplayResponse | ReplayCount> {
    if (input.dry_run !== true) return this.deliveries.replayAll(author, input);
    response.status(200);
    return this.deliveries.countReplayed(author, input);
  }

  @Post(':id/replay')
  @HttpCode(202)
  @RequirePermission('tenant:update')
  @PeopleNeed('reactor:update')
  replay(@ChangedBy() author: Author, @Param('id') id: string): Promise<ReplayResponse> {
    return this.deliveries.replay(author, id);
  }
}
