import { Controller, Get } from '@nestjs/common';
import {
  permissionCatalogue,
  permissions,
  type ApplicationType,
  type Permission,
} from '@glovebox/access';
import { AnyCaller } from '../http/permission.guard';

export interface PermissionResponse {
  type: Permission;
  description: string;
  application_types: ApplicationType[];
}

@Controller('permissions')
export class PermissionsController {
  @Get()
  @AnyCaller()
  list(): PermissionResponse[] {
    return permissions.map((type) => {
      const { description, applicationTypes } = permissionCatalogue[type];
      return { type, description, application_types: [...applicationTypes] };
    });
  }
}
