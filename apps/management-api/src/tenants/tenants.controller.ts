import { Controller, Get } from '@nestjs/common';
import type { Actor } from '@glovebox/vault';
import { RequirePermission } from '../http/permission.guard';
import { Caller } from '../http/request';
import { TenantsService } from './tenants.service';

@Controller('tenants/self')
export class TenantsController {
  constructor(private readonly tenants: TenantsService) {}

  @Get('webhook-secret')
  @RequirePermission('tenant:update')
  showWebhookSecret(@Caller() actor: Actor): Promise<{ secret: string }> {
    return this.tenants.showWebhookSecret(actor);
  }
}
