import { manyFollowers } from './spec-many-followers';

manyFollowers(100);
