import { manyFollowers } from './many-followers.cases';

manyFollowers(100);
