import { worker } from './async-runs.cases';
import { management } from './management.cases';
import { gateway } from './runs-once.cases';

// All cases in one file: an app that a test has killed and restarted runs until the last case ends.
afterAll(() => Promise.all([worker.end(), management.end(), gateway.end()]));
