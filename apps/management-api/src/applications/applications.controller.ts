import { Body, Controller, Get, Post } from '@nestjs/common';
import type { Actor } from '@glovebox/vault';
import { RequirePermission } from '../http/permission.guard';
import { Caller, Loaded } from '../http/request';
import { OfResource } from '../http/resource.guard';
import { Application } from './application.entity';
import {
  CreateApplication,
  toApplicationResponse,
  type ApplicationResponse,
} from './applications.dto';
import { ApplicationsService } from './applications.service';

@Controller('applications')
export class ApplicationsController {
  constructor(private readonly applications: ApplicationsService) {}

  @Post()
  @RequirePermission('application:create')
  create(@Caller() actor: Actor, @Body() input: CreateApplication): Promise<ApplicationResponse> {
    return this.applications.create(actor, input);
  }

  @Get(':id')
  @RequirePermission('application:read')
  @OfResource(Application)
  get(@Loaded() application: Application): ApplicationResponse {
    return toApplicationResponse(application, 'read');
  }
}
