import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, ArrayUnique, IsArray, IsString, ValidateBy } from 'class-validator';
import { allowedOriginsMax, originMax } from './resource-limits';

/** The origins of the pages that may use a resource. Each is written as browsers send it. */
export const AllowedOrigins = (): PropertyDecorator =>
  applyDecorators(
    IsArray(),
    ArrayMaxSize(allowedOriginsMax),
    IsString({ each: true }),
    ArrayUnique({ message: 'must not have the same origin twice' }),
    IsOrigin(),
  );

const IsOrigin = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isOrigin',
      validator: {
        validate: isOrigin,
        defaultMessage: (args) =>
          `has at position ${positionOf(args?.value)} no origin as browsers send it, such as ` +
          'https://shop.example or https://shop.example:8443: lower case, no path, no / at the end, ' +
          `no *, http:// for localhost, 127.0.0.1 and [::1] alone, at most ${originMax} characters`,
      },
    },
    { each: true },
  );

const positionOf = (origins: unknown): number =>
  (origins as readonly unknown[]).findIndex((origin) => !isOrigin(origin)) + 1;

const hostOf = /^(https?):\/\/((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;
const ownMachine = ['localhost', '127.0.0.1', '[::1]'];

/** A page without TLS could be anybody's, unless it is on the machine of its reader. */
function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > originMax) return false;
  const [, scheme, host = ''] = hostOf.exec(value) ?? [];
  if (scheme !== 'https' && !ownMachine.includes(host)) return false;
  // A browser would write any other spelling of port and address in another way.
  return URL.canParse(value) && new URL(value).origin === value;
}
