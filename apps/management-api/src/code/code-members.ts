import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { runtimes, type Runtime } from '@glovebox/sandbox';
import { TextLength, WithoutNul } from '../validation/decorators';

export const defaultRuntime: Runtime = 'node16';

const codeMax = 50_000;

/** Code of a formula or a transform. */
export const Code = (): PropertyDecorator =>
  applyDecorators(IsString(), TextLength(1, codeMax), WithoutNul());

export const RuntimeName = (): PropertyDecorator => applyDecorators(IsOptional(), IsIn(runtimes));
