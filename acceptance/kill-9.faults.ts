import { worker } from './async-runs.cases';
import { management } from './management.cases';

// Of one file: what a test has killed and brought back runs until the last of them all is through.
afterAll(() => Promise.all([worker.end(), management.end()]));
