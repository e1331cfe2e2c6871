import { manyFollowers } from './many-followers.cases';

// A hundred, in the faults, take both processors from the specs beside them.
manyFollowers(30);
