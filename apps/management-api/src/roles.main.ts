import { loadRolesConfig } from './config';
import { ensureRoles } from './database/roles';
import { runCommand } from './run-command';

void runCommand(async () => {
  const config = loadRolesConfig(process.env);
  await ensureRoles(config.ADMIN_DATABASE_URL.reveal(), {
    owner: config.OWNER_PASSWORD.reveal(),
    management: config.MANAGEMENT_PASSWORD.reveal(),
    data: config.DATA_PASSWORD.reveal(),
    rotation: config.ROTATION_PASSWORD.reveal(),
  });
  return 'The roles glovebox_owner, glovebox_management, glovebox_data and glovebox_rotation are there.';
});
