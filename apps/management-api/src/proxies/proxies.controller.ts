import { Body, Controller, Get, Post } from '@nestjs/common';
import type { Actor } from '@glovebox/vault';
import { RequirePermission } from '../http/permission.guard';
import { Caller, Loaded } from '../http/request';
import { OfResource } from '../http/resource.guard';
import { CreateProxy, type ProxyResponse } from './proxies.dto';
import { ProxiesService } from './proxies.service';
import { Proxy } from './proxy.entity';

@Controller('proxies')
export class ProxiesController {
  constructor(private readonly proxies: ProxiesService) {}

  @Post()
  @RequirePermission('proxy:create')
  create(@Caller() actor: Actor, @Body() input: CreateProxy): Promise<ProxyResponse> {
    return this.proxies.create(actor, input);
  }

  @Get(':id')
  @RequirePermission('proxy:read')
  @OfResource(Proxy)
  get(@Loaded() proxy: Proxy): Promise<ProxyResponse> {
    return this.proxies.show(proxy);
  }
}
