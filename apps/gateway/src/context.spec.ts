import { itLeavesNoConnectionOpen } from '@glovebox/testing';
import { loadGatewayConfig } from './config';
import { createGatewayContext } from './context';

itLeavesNoConnectionOpen('a gateway', 'dataUrl', (variables) => {
  const runner = { RUNNER_URLS: 'unix:/nonexistent/runner.sock', RUNNER_SECRET: 'secret' };
  const config = loadGatewayConfig({ ...variables, ...runner, HEADER_PREFIXES: 'SVC' });
  return createGatewayContext(config, { stopping: new AbortController().signal });
});
