import type { Actor } from '@glovebox/access';
import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put } from '@nestjs/common';
import type { Author } from '../changes/change';
import { AnyCaller, NotForPeople, RequirePermission } from '../http/check-permission';
import { Caller, ChangedBy, LoadedResource } from '../http/request';
import { OfResource } from '../http/check-resource';
import { Tagged } from '../http/entity-tags';
import type { Page } from '../lists/page';
import type { MergePatch } from '../validation/patched-dto';
import { Application } from '../entities/application.entity';
import {
  ApplicationListing,
  CreateApplication,
  ForceFlag,
  toApplicationResponse,
  UpdateApplication,
  type ApplicationListQuery,
  type ApplicationResponse,
} from './applications.dto';
import { AskDecision, type DecisionResponse } from './decisions.dto';
import { ApplicationsService } from './applications.service';

@Controller('applications')
export class ApplicationsController {
  constructor(private readonly applications: ApplicationsService) {}

  @Post()
  @Tagged()
  @RequirePermission('application:create')
  create(
    @ChangedBy() author: Author,
    @Body() input: CreateApplication,
  ): Promise<ApplicationResponse> {
    return this.applications.create(author, input);
  }

  @Get()
  @RequirePermission('application:read')
  list(@Caller() actor: Actor, @ApplicationListing() query: ApplicationListQuery): Promise<Page> {
    return this.applications.list(actor, query);
  }

  /** Declared before `:id`, which would match `key` as an id. */
  @Get('key')
  @AnyCaller()
  @NotForPeople('A person has no application.')
  own(@Caller() actor: Actor): Promise<ApplicationResponse> {
    return this.applications.own(actor);
  }

  @Get(':id')
  @Tagged()
  @RequirePermission('application:read')
  @OfResource(Application)
  get(@LoadedResource() application: Application): ApplicationResponse {
    return toApplicationResponse(application, 'read');
  }

  @Put(':id')
  @Tagged()
  @RequirePermission('application:update')
  @OfResource(Application)
  update(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Application,
    @Body() input: UpdateApplication,
  ): Promise<ApplicationResponse> {
    return this.applications.update(author, id, input);
  }

  @Patch(':id')
  @Tagged()
  @HttpCode(204)
  @RequirePermission('application:update')
  @OfResource(Application)
  patch(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Application,
    @Body() patch: MergePatch,
  ): Promise<void> {
    return this.applications.patch(author, id, patch);
  }

  /** A question: it changes nothing, and is asked by POST to keep ids of tokens out of URLs. */
  @Post(':id/decisions')
  @HttpCode(200)
  @RequirePermission('application:read')
  @OfResource(Application)
  decide(
    @Caller() actor: Actor,
    @LoadedResource() application: Application,
    @Body() input: AskDecision,
  ): Promise<DecisionResponse> {
    return this.applications.decide(actor, application, input);
  }

  @Delete(':id')
  @Tagged()
  @HttpCode(204)
  @RequirePermission('application:delete')
  @OfResource(Application)
  remove(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Application,
    @ForceFlag() isForced: boolean,
  ): Promise<void> {
    return this.applications.remove(author, id, isForced);
  }
}
