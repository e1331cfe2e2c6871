import type { Actor } from '@glovebox/access';
import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put } from '@nestjs/common';
import { FreeMembers } from '../http/body.interceptor';
import type { Author } from '../changes/change';
import { NotForPeople, RequirePermission } from '../http/check-permission';
import { Caller, ChangedBy, LoadedResource } from '../http/request';
import { OfResource } from '../http/check-resource';
import { Tagged } from '../http/entity-tags';
import { Listing, type ListQuery } from '../lists/listing';
import type { Page } from '../lists/page';
import type { MergePatch } from '../validation/patched-dto';
import { ProxyInput } from './proxies.dto';
import { ProxiesService } from './proxies.service';
import { Proxy } from '../entities/proxy.entity';

/** They are not shown what the whole document holds. */
const patchInstead = 'In the console use PATCH, with the members that change.';

@Controller('proxies')
export class ProxiesController {
  constructor(private readonly proxies: ProxiesService) {}

  @Post()
  @Tagged()
  @FreeMembers('request_transforms', 'response_transforms')
  @RequirePermission('proxy:create')
  create(@ChangedBy() author: Author, @Body() input: ProxyInput): Promise<object> {
    return this.proxies.create(author, input);
  }

  @Get()
  @RequirePermission('proxy:read')
  list(@Caller() actor: Actor, @Listing() query: ListQuery): Promise<Page> {
    return this.proxies.list(actor, query);
  }

  @Get(':id')
  @Tagged()
  @RequirePermission('proxy:read')
  @OfResource(Proxy)
  get(@Caller() actor: Actor, @LoadedResource() proxy: Proxy): Promise<object> {
    return this.proxies.show(actor, proxy);
  }

  @Put(':id')
  @Tagged()
  @NotForPeople(patchInstead)
  @FreeMembers('request_transforms', 'response_transforms')
  @RequirePermission('proxy:update')
  @OfResource(Proxy)
  update(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Proxy,
    @Body() input: ProxyInput,
  ): Promise<object> {
    return this.proxies.update(author, id, input);
  }

  @Patch(':id')
  @Tagged()
  @FreeMembers('request_transforms', 'response_transforms')
  @HttpCode(204)
  @RequirePermission('proxy:update')
  @OfResource(Proxy)
  patch(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Proxy,
    @Body() patch: MergePatch,
  ): Promise<void> {
    return this.proxies.patch(author, id, patch);
  }

  @Delete(':id')
  @Tagged()
  @HttpCode(204)
  @RequirePermission('proxy:delete')
  @OfResource(Proxy)
  remove(@ChangedBy() author: Author, @LoadedResource() { id }: Proxy): Promise<void> {
    return this.proxies.remove(author, id);
  }
}
