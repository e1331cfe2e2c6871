import type { Actor } from '@glovebox/access';
import { Controller, Get } from '@nestjs/common';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import type { Page } from '../lists/page';
import { LogListing, type LogQuery } from './logs.dto';
import { LogsService } from './logs.service';

@Controller('logs')
export class LogsController {
  constructor(private readonly logs: LogsService) {}

  @Get()
  @RequirePermission('log:read')
  list(@Caller() actor: Actor, @LogListing() query: LogQuery): Promise<Page> {
    return this.logs.list(actor, query);
  }
}
