import { runtimes, type Runtime } from '@glovebox/sandbox';
import { OneOf, Text } from '../validation/fields';

export const defaultRuntime: Runtime = 'node16';

export const codeMax = 50_000;

export const Code = (): PropertyDecorator => Text({ max: codeMax });
export const RuntimeName = (): PropertyDecorator => OneOf(runtimes, { optional: true });
