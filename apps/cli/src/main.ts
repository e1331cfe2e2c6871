#!/usr/bin/env node
import { takeEnvironment } from './config';
import { run } from './program';

void run(process, takeEnvironment());
