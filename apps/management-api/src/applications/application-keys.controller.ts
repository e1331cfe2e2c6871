import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { Author } from '../changes/change';
import { RequirePermission } from '../http/check-permission';
import { ChangedBy, LoadedResource } from '../http/request';
import { OfResource } from '../http/check-resource';
import { Tagged } from '../http/entity-tags';
import type { ApplicationKeyResponse } from './application-keys.dto';
import { ApplicationKeysService } from './application-keys.service';
import { Application } from '../entities/application.entity';
import type { ApplicationResponse } from './applications.dto';

@Controller('applications/:id')
export class ApplicationKeysController {
  constructor(private readonly keys: ApplicationKeysService) {}

  @Post('regenerate')
  @HttpCode(200)
  @Tagged()
  @RequirePermission('application:update')
  @OfResource(Application)
  regenerate(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Application,
  ): Promise<ApplicationResponse> {
    return this.keys.regenerate(author, id);
  }

  @Post('keys')
  @RequirePermission('application:update')
  @OfResource(Application)
  create(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Application,
  ): Promise<ApplicationKeyResponse> {
    return this.keys.create(author, id);
  }

  @Get('keys')
  @RequirePermission('application:read')
  @OfResource(Application)
  list(@LoadedResource() application: Application): Promise<ApplicationKeyResponse[]> {
    return this.keys.list(application);
  }

  @Get('keys/:key_id')
  @RequirePermission('application:read')
  @OfResource(Application)
  get(
    @LoadedResource() application: Application,
    @Param('key_id') keyId: string,
  ): Promise<ApplicationKeyResponse> {
    return this.keys.get(application, keyId);
  }

  @Delete('keys/:key_id')
  @HttpCode(204)
  @RequirePermission('application:update')
  @OfResource(Application)
  remove(
    @ChangedBy() author: Author,
    @LoadedResource() { id }: Application,
    @Param('key_id') keyId: string,
  ): Promise<void> {
    return this.keys.remove(author, id, keyId);
  }
}
