import type { Actor } from '@glovebox/access';
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Post,
  Put,
  UseInterceptors,
} from '@nestjs/common';
import type { Author } from '../changes/change';
import { BodyInterceptor } from '../http/body.interceptor';
import { CallerInterceptor } from '../http/caller.interceptor';
import { NotForPeople, RequirePermission } from '../http/check-permission';
import { Tagged, type EntityTags } from '../http/entity-tags';
import { Caller, ChangedBy, TagsOfCall } from '../http/request';
import type { ForwardAuthorityResponse } from './forward-authorities';
import {
  DeleteTenant,
  NamedInQuery,
  UpdateTenant,
  type TenantResponse,
  type WebhookSecretResponse,
} from './tenants.dto';
import { TenantsService } from './tenants.service';

const noSecrets = 'The console shows no secrets: use a management key.';

@Controller('tenants/self')
export class TenantsController {
  constructor(private readonly tenants: TenantsService) {}

  @Get()
  @Tagged()
  @RequirePermission('tenant:read')
  get(@Caller() actor: Actor, @TagsOfCall() tags?: EntityTags): Promise<TenantResponse> {
    return this.tenants.get(actor, tags);
  }

  @Put()
  @Tagged()
  @RequirePermission('tenant:update')
  update(@ChangedBy() author: Author, @Body() input: UpdateTenant): Promise<TenantResponse> {
    return this.tenants.update(author, input);
  }

  @Delete()
  @Tagged()
  @HttpCode(204)
  @UseInterceptors(BodyInterceptor, CallerInterceptor)
  @RequirePermission('tenant:delete')
  remove(
    @ChangedBy() author: Author,
    @Body() { name }: DeleteTenant,
    @NamedInQuery() named: readonly string[],
  ): Promise<void> {
    return this.tenants.remove(author, name === undefined ? named : [...named, name]);
  }

  @Get('webhook-secret')
  @RequirePermission('tenant:update')
  @NotForPeople(noSecrets)
  showWebhookSecret(@Caller() actor: Actor): Promise<WebhookSecretResponse> {
    return this.tenants.showWebhookSecret(actor);
  }

  @Get('forward-ca')
  @RequirePermission('tenant:read')
  showForwardAuthority(@Caller() actor: Actor): Promise<ForwardAuthorityResponse> {
    return this.tenants.showForwardAuthority(actor);
  }

  @Post('forward-ca/rotate')
  @HttpCode(200)
  @RequirePermission('tenant:update')
  rotateForwardAuthority(@ChangedBy() author: Author): Promise<ForwardAuthorityResponse> {
    return this.tenants.rotateForwardAuthority(author);
  }

  @Post('webhook-secret/rotate')
  @Tagged()
  @HttpCode(200)
  @RequirePermission('tenant:update')
  @NotForPeople(noSecrets)
  rotateWebhookSecret(@ChangedBy() author: Author): Promise<WebhookSecretResponse> {
    return this.tenants.rotateWebhookSecret(author);
  }
}
