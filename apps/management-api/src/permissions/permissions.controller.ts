import { Controller, Get } from '@nestjs/common';
import {
  permissionCatalogue,
  permissions,
  type ApplicationType,
  type Permission,
} from '@glovebox/access';
import { AnyCaller } from '../http/check-permission';

interface PermissionResponse {
  type: Permission;
  description: string;
  application_types: ApplicationType[];
}

/** Built once, because it is the same for every caller. */
const listed: readonly PermissionResponse[] = permissions.map((type) => {
  const { description, applicationTypes } = permissionCatalogue[type];
  return { type, description, application_types: [...applicationTypes] };
});

@Controller('permissions')
export class PermissionsController {
  @Get()
  @AnyCaller()
  list(): readonly PermissionResponse[] {
    return listed;
  }
}
