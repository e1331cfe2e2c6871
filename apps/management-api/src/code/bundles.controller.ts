import type { Actor } from '@glovebox/access';
import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import { BodyBytesMax } from '../http/body.interceptor';
import { RequirePermission } from '../http/check-permission';
import { Caller } from '../http/request';
import { UploadCode, UploadMap } from './bundles.dto';
import { BundlesService, type UploadedCode } from './bundles.service';

/** A text of the largest size, with what JSON escapes in it. */
const codeBodyBytesMax = 3 * 1024 * 1024;
const mapBodyBytesMax = 4 * 1024 * 1024;

@Controller('code')
export class BundlesController {
  constructor(private readonly bundles: BundlesService) {}

  @Put(':sha256')
  @RequirePermission('deployment:create')
  @BodyBytesMax(codeBodyBytesMax)
  put(
    @Caller() actor: Actor,
    @Param('sha256') sha256: string,
    @Body() { code }: UploadCode,
  ): Promise<UploadedCode> {
    return this.bundles.put(actor, sha256, code);
  }

  @Put(':sha256/map')
  @RequirePermission('deployment:create')
  @BodyBytesMax(mapBodyBytesMax)
  putMap(
    @Caller() actor: Actor,
    @Param('sha256') sha256: string,
    @Body() { map }: UploadMap,
  ): Promise<{ sha256: string }> {
    return this.bundles.putMap(actor, sha256, map);
  }

  @Get(':sha256')
  @RequirePermission('reactor:read')
  get(
    @Caller() actor: Actor,
    @Param('sha256') sha256: string,
  ): Promise<{ sha256: string; code: string }> {
    return this.bundles.get(actor, sha256);
  }
}
