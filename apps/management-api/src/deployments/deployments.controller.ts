import type { Actor } from '@glovebox/access';
import type { CursorQuery } from '@glovebox/database';
import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { Author } from '../changes/change';
import { BodyBytesMax } from '../http/body.interceptor';
import { RequirePermission } from '../http/check-permission';
import { Caller, ChangedBy } from '../http/request';
import type { Page } from '../lists/page';
import {
  CreateDeployment,
  DeploymentListing,
  RollbackInput,
  type DeploymentDetails,
  type DeploymentResponse,
} from './deployments.dto';
import { DeploymentsService } from './deployments.service';

const deploymentBytesMax = 16 * 1024 * 1024;

@Controller('deployments')
export class DeploymentsController {
  constructor(private readonly deployments: DeploymentsService) {}

  @Post()
  @HttpCode(200)
  @RequirePermission('deployment:create')
  @BodyBytesMax(deploymentBytesMax)
  create(
    @Caller() actor: Actor,
    @ChangedBy() author: Author,
    @Body() input: CreateDeployment,
  ): Promise<DeploymentResponse> {
    return this.deployments.deploy(actor, author, input);
  }

  @Get()
  @RequirePermission('deployment:read')
  list(@Caller() actor: Actor, @DeploymentListing() query: CursorQuery): Promise<Page> {
    return this.deployments.list(actor, query);
  }

  @Get(':id')
  @RequirePermission('deployment:read')
  get(@Caller() actor: Actor, @Param('id') id: string): Promise<DeploymentDetails> {
    return this.deployments.get(actor, id);
  }

  @Post(':id/rollback')
  @HttpCode(200)
  @RequirePermission('deployment:create')
  rollback(
    @Caller() actor: Actor,
    @ChangedBy() author: Author,
    @Param('id') id: string,
    @Body() input: RollbackInput,
  ): Promise<DeploymentResponse> {
    return this.deployments.rollback(actor, author, id, input);
  }
}
