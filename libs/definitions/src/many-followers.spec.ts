import { manyFollowers } from './spec-many-followers';

// A hundred, in the faults, take both processors from the specs beside them.
manyFollowers(30);
