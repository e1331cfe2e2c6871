import { Body, Controller, Get, Post } from '@nestjs/common';
import type { Actor } from '@glovebox/vault';
import { RequirePermission } from '../http/permission.guard';
import { Caller, Loaded } from '../http/request';
import { OfResource } from '../http/resource.guard';
import { Reactor } from './reactor.entity';
import { CreateReactor, type ReactorResponse } from './reactors.dto';
import { ReactorsService } from './reactors.service';

@Controller('reactors')
export class ReactorsController {
  constructor(private readonly reactors: ReactorsService) {}

  @Post()
  @RequirePermission('reactor:create')
  create(@Caller() actor: Actor, @Body() input: CreateReactor): Promise<ReactorResponse> {
    return this.reactors.create(actor, input);
  }

  @Get(':id')
  @RequirePermission('reactor:read')
  @OfResource(Reactor)
  get(@Loaded() reactor: Reactor): Promise<ReactorResponse> {
    return this.reactors.show(reactor);
  }
}
