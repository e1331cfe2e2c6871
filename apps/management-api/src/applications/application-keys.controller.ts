import type { Actor } from '@glovebox/access';
import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { RequirePermission } from '../http/check-permission';
import { Caller, Loaded } from '../http/request';
import { OfResource } from '../http/check-resource';
import type { ApplicationKeyResponse } from './application-keys.dto';
import { ApplicationKeysService } from './application-keys.service';
import { Application } from '../entities/application.entity';
import type { ApplicationResponse } from './applications.dto';

@Controller('applications/:id')
export class ApplicationKeysController {
  constructor(private readonly keys: ApplicationKeysService) {}

  @Post('regenerate')
  @HttpCode(200)
  @RequirePermission('application:update')
  @OfResource(Application)
  regenerate(@Caller() actor: Actor, @Loaded() { id }: Application): Promise<ApplicationResponse> {
    return this.keys.regenerate(actor, id);
  }

  @Post('keys')
  @RequirePermission('application:update')
  @OfResource(Application)
  create(@Caller() actor: Actor, @Loaded() { id }: Application): Promise<ApplicationKeyResponse> {
    return this.keys.create(actor, id);
  }

  @Get('keys')
  @RequirePermission('application:read')
  @OfResource(Application)
  list(@Loaded() application: Application): Promise<ApplicationKeyResponse[]> {
    return this.keys.list(application);
  }

  @Get('keys/:key_id')
  @RequirePermission('application:read')
  @OfResource(Application)
  get(
    @Loaded() application: Application,
    @Param('key_id') keyId: string,
  ): Promise<ApplicationKeyResponse> {
    return this.keys.get(application, keyId);
  }

  @Delete('keys/:key_id')
  @HttpCode(204)
  @RequirePermission('application:update')
  @OfResource(Application)
  remove(
    @Caller() actor: Actor,
    @Loaded() { id }: Application,
    @Param('key_id') keyId: string,
  ): Promise<void> {
    return this.keys.remove(actor, id, keyId);
  }
}
