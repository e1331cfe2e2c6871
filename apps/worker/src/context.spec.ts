import { itLeavesNoConnectionOpen } from '@glovebox/testing';
import { loadWorkerConfig } from './config';
import { createWorkerContext } from './context';

itLeavesNoConnectionOpen('a worker', 'dataUrl', (variables) => {
  const runner = { RUNNER_URLS: 'unix:/nonexistent/runner.sock', RUNNER_SECRET: 'secret' };
  return createWorkerContext(loadWorkerConfig({ ...variables, ...runner }));
});
