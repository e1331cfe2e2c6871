import { Controller, Delete, Get, HttpCode, Param } from '@nestjs/common';
import type { Actor } from '@glovebox/access';
import { PeopleNeed, RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import type { Page } from '../lists/page';
import { SessionListing, type SessionQuery } from './people.dto';
import { PeopleService } from './people.service';

/** Who is signed in to the console. Of people, admins alone see it and end sessions of others. */
@Controller()
export class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Get('sessions')
  @RequirePermission('application:read')
  @PeopleNeed('application:update')
  list(@Caller() actor: Actor, @SessionListing() query: SessionQuery): Promise<Page> {
    return this.people.sessions(actor, query);
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  @RequirePermission('application:update')
  endOne(@Caller() actor: Actor, @Param('id') id: string): Promise<void> {
    return this.people.endSession(actor, id);
  }

  @Delete('people/:id/sessions')
  @HttpCode(204)
  @RequirePermission('application:update')
  endAll(@Caller() actor: Actor, @Param('id') id: string): Promise<void> {
    return this.people.endSessionsOf(actor, id);
  }
}
