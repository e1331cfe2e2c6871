import type { Actor } from '@glovebox/access';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Author } from '../changes/change';
import { NotForPeople, RequirePermission } from '../http/check-permission';
import { Caller, CallerLater, ChangedBy } from '../http/request';
import { whileThere } from '../http/while-there';
import {
  Listening,
  StartListener,
  type ListenerResponse,
  type ListeningQuery,
  type WebhookCopies,
} from './listeners.dto';
import { ListenersService } from './listeners.service';

const forPrograms = 'Listening to webhooks is for the command line, with a key of an application.';

@Controller('webhook-listeners')
export class ListenersController {
  constructor(private readonly listeners: ListenersService) {}

  @Post()
  @RequirePermission('log:read')
  @NotForPeople(forPrograms)
  start(
    @Caller() actor: Actor,
    @ChangedBy() author: Author,
    @Body() input: StartListener,
  ): Promise<ListenerResponse> {
    return this.listeners.start(actor, author, input);
  }

  @Get(':id/webhooks')
  @RequirePermission('log:read')
  @NotForPeople(forPrograms)
  hear(
    @Caller() actor: Actor,
    @CallerLater() later: () => Promise<Actor>,
    @Param('id') id: string,
    @Listening() query: ListeningQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WebhookCopies> {
    return whileThere(response, (signal) =>
      this.listeners.hear({ actor, later }, id, query, signal),
    );
  }

  @Delete(':id')
  @HttpCode(204)
  @RequirePermission('log:read')
  @NotForPeople(forPrograms)
  end(@Caller() actor: Actor, @Param('id') id: string): Promise<void> {
    return this.listeners.end(actor, id);
  }
}
