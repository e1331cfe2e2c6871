import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { runtimes, type Runtime } from '@glovebox/sandbox';
import { TextLength, WithoutNul } from '../validation/decorators';

export const defaultRuntime: Runtime = 'node16';

/** The last day on which the Node.js project mends a version. */
const supportedUntil: Readonly<Record<Runtime, string>> = {
  node16: '2023-09-11',
  node20: '2026-04-30',
  node22: '2027-04-30',
  node24: '2028-04-30',
};

/** The member of an answer beside a `runtime` that nobody mends any more. */
export function toEndOfLife(
  runtime: Runtime = defaultRuntime,
  now = new Date(),
): { runtime_end_of_life?: string } {
  const lastDay = supportedUntil[runtime];
  return now.toISOString().slice(0, 10) > lastDay ? { runtime_end_of_life: lastDay } : {};
}

const codeMax = 50_000;

/** Code of a formula or a transform. */
export const Code = (): PropertyDecorator =>
  applyDecorators(IsString(), TextLength(1, codeMax), WithoutNul());

export const RuntimeName = (): PropertyDecorator => applyDecorators(IsOptional(), IsIn(runtimes));
