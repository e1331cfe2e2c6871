import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
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

export const codeMax = 50_000;

/** Characters of code that is uploaded, or only tried. */
export const bundleMax = 1024 * 1024;

/** Code of a formula or a transform. Beside it, `code_sha256` names a bundle. */
export const Code = (max = codeMax): PropertyDecorator =>
  applyDecorators(IsOptional(), IsString(), TextLength(1, max), WithoutNul());

export const sha256Pattern = /^[0-9a-f]{64}$/;

export const CodeSha256 = (): PropertyDecorator =>
  applyDecorators(
    IsOptional(),
    IsString(),
    Matches(sha256Pattern, { message: 'must be a SHA-256 in 64 lower-case hexadecimal digits' }),
  );

export const RuntimeName = (): PropertyDecorator => applyDecorators(IsOptional(), IsIn(runtimes));
