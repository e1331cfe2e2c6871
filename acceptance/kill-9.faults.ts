import { worker } from './async-runs.cases';
import { management } from './management.cases';

// All cases in one file: an app that a test has killed and restarted runs until the last case ends.
afterAll(() => Promise.all([worker.end(), management.end()]));
