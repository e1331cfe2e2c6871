import type { Actor } from '@glovebox/access';
import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put } from '@nestjs/common';
import type { Author } from '../changes/change';
import { NotForPeople, RequirePermission } from '../http/check-permission';
import { Caller, ChangedBy, LoadedResource } from '../http/request';
import { OfResource } from '../http/check-resource';
import { Tagged } from '../http/entity-tags';
import { Listing, type ListQuery } from '../lists/listing';
import type { Page } from '../lists/page';
import type { MergePatch } from '../validation/patched-dto';
import { Reactor } from '../entities/reactor.entity';
import { CreateReactor, UpdateReactor } from './reactors.dto';
import { ReactorsService } from './reactors.service';

/** They are not shown what the whole document holds. */
const patchInstead = 'In the console use PATCH, with the members that change.';

@Controller('reactors')
export class ReactorsController {
  constructor(private readonly reactors: ReactorsService) {}

  @Post()
  @Tagged()
  @RequirePermission('reactor:create')
  create(@ChangedBy() author: Author, @Body() input: CreateReactor): Promise<object> {
    return this.reactors.create(author, input);
  }

  @Get()
  @RequirePermission('reactor:read')
  list(@Caller() actor: Actor, @Listing() query: ListQuery): Promise<Page> {
    return this.reactors.list(actor, query);
  }

  @Get(':id')
  @Tagged()
  @RequirePermission('reactor:read')
  @OfResource(Reactor)
  get(@Caller() actor: Actor, @LoadedResource() reactor: Reactor): Promise<object> {
    return this.reactors.show(actor, reactor);
  }

  @Put(':id')
  @Tagged()
  @NotForPeople(patchInstead)
  @RequirePermission('reactor:update')
  @OfResource(Reactor)
  update(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Reactor,
    @Body() input: UpdateReactor,
  ): Promise<object> {
    return this.reactors.update(author, id, input);
  }

  @Patch(':id')
  @Tagged()
  @HttpCode(204)
  @RequirePermission('reactor:update')
  @OfResource(Reactor)
  patch(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Reactor,
    @Body() patch: MergePatch,
  ): Promise<void> {
    return this.reactors.patch(author, id, patch);
  }

  @Delete(':id')
  @Tagged()
  @HttpCode(204)
  @RequirePermission('reactor:delete')
  @OfResource(Reactor)
  remove(@ChangedBy() author: Author, @LoadedResource() { id }: Reactor): Promise<void> {
    return this.reactors.remove(author, id);
  }
}
