import type { Actor } from '@glovebox/access';
import { Controller, Get } from '@nestjs/common';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import { OverviewHours, type Hours, type Overview } from './overview.dto';
import { OverviewService } from './overview.service';

@Controller('overview')
export class OverviewController {
  constructor(private readonly overview: OverviewService) {}

  @Get()
  @RequirePermission('log:read')
  get(@Caller() actor: Actor, @OverviewHours() hours: Hours): Promise<Overview> {
    return this.overview.get(actor, hours);
  }
}
