import { itLeavesNoConnectionOpen } from '@glovebox/testing';
import { loadManagementConfig } from './config';
import { createManagementContext } from './context';

itLeavesNoConnectionOpen('a management API', 'managementUrl', (variables) =>
  createManagementContext(loadManagementConfig(variables)),
);
