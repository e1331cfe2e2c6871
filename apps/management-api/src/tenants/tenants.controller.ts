import type { Actor } from '@glovebox/access';
import { Body, Controller, Delete, Get, HttpCode, Post, Put } from '@nestjs/common';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import { UpdateTenant, type TenantResponse, type WebhookSecretResponse } from './tenants.dto';
import { TenantsService } from './tenants.service';

@Controller('tenants/self')
export class TenantsController {
  constructor(private readonly tenants: TenantsService) {}

  @Get()
  @RequirePermission('tenant:read')
  get(@Caller() actor: Actor): Promise<TenantResponse> {
    return this.tenants.get(actor);
  }

  @Put()
  @RequirePermission('tenant:update')
  update(@Caller() actor: Actor, @Body() input: UpdateTenant): Promise<TenantResponse> {
    return this.tenants.update(actor, input);
  }

  @Delete()
  @HttpCode(204)
  @RequirePermission('tenant:delete')
  remove(@Caller() actor: Actor): Promise<void> {
    return this.tenants.remove(actor);
  }

  @Get('webhook-secret')
  @RequirePermission('tenant:update')
  showWebhookSecret(@Caller() actor: Actor): Promise<WebhookSecretResponse> {
    return this.tenants.showWebhookSecret(actor);
  }

  @Post('webhook-secret/rotate')
  @HttpCode(200)
  @RequirePermission('tenant:update')
  rotateWebhookSecret(@Caller() actor: Actor): Promise<WebhookSecretResponse> {
    return this.tenants.rotateWebhookSecret(actor);
  }
}
