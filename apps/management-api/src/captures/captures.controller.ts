import type { Actor } from '@glovebox/access';
import type { CursorQuery } from '@glovebox/database';
import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { Author } from '../changes/change';
import { Proxy } from '../entities/proxy.entity';
import { RequirePermission } from '../http/check-permission';
import { OfResource } from '../http/check-resource';
import { Caller, ChangedBy, LoadedResource } from '../http/request';
import type { Page } from '../lists/page';
import {
  CaptureListing,
  StartCapture,
  type CaptureResponse,
  type CaptureWindow,
} from './captures.dto';
import { CapturesService } from './captures.service';

@Controller('proxies/:id/captures')
export class CapturesController {
  constructor(private readonly captures: CapturesService) {}

  @Post()
  @RequirePermission('proxy:update')
  @OfResource(Proxy)
  start(
    @Caller() actor: Actor,
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Proxy,
    @Body() input: StartCapture,
  ): Promise<CaptureWindow> {
    return this.captures.start(actor, author, id, input);
  }

  @Delete()
  @HttpCode(204)
  @RequirePermission('proxy:update')
  @OfResource(Proxy)
  end(@ChangedBy() author: Author, @LoadedResource() { id }: Proxy): Promise<void> {
    return this.captures.end(author, id);
  }

  @Get()
  @RequirePermission('proxy:update')
  @OfResource(Proxy)
  list(
    @Caller() actor: Actor,
    @LoadedResource() { id }: Proxy,
    @CaptureListing() query: CursorQuery,
  ): Promise<Page> {
    return this.captures.list(actor, id, query);
  }

  @Get(':capture_id')
  @RequirePermission('proxy:update')
  @OfResource(Proxy)
  get(
    @Caller() actor: Actor,
    @LoadedResource() { id }: Proxy,
    @Param('capture_id') captureId: string,
  ): Promise<CaptureResponse> {
    return this.captures.read(actor, id, captureId);
  }
}
