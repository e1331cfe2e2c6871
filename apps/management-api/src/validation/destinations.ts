import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, ValidateBy } from 'class-validator';
import { destinationsMax, parseDestination } from '@glovebox/access';

/** Patterns of where values may go. Without a single one there would be no bound. */
export const Destinations = (): PropertyDecorator =>
  applyDecorators(
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(destinationsMax),
    IsString({ each: true }),
    IsDestination(),
  );

const IsDestination = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isDestination',
      validator: {
        validate: isDestination,
        defaultMessage: (args) =>
          `has at position ${positionOf(args?.value)} no destination, such as api.example.com, ` +
          '*.example.com, api.example.com:8443 or api.example.com/v1',
      },
    },
    { each: true },
  );

const isDestination = (value: unknown): boolean =>
  typeof value === 'string' && parseDestination(value) !== undefined;

const positionOf = (list: unknown): number =>
  (list as readonly unknown[]).findIndex((one) => !isDestination(one)) + 1;
