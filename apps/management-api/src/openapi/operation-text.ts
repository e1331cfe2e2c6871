import type { ProblemCode } from '@glovebox/problems';
import type { Dto } from '../validation/dto-members';
import type { Schema } from './schema';

/** Describes an operation, as far as no code does. */
export interface OperationText {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** The schema of a success. Left out if the answer has no body. */
  readonly answer?: string | Schema;
  /** A second kind of success: its status, its meaning and its schema. */
  readonly otherwise?: {
    readonly status: number;
    readonly description: string;
    readonly answer: string;
  };
  /** The document that a PATCH patches. */
  readonly patches?: Dto;
  /** The schema of a body that no class describes. */
  readonly takes?: Schema;
  readonly query?: Readonly<
    /** `many`: how often it may be given, where that is more than once. */
    Record<string, { description: string; schema: Schema; many?: number }>
  >;
  /** An example of the body. */
  readonly body?: unknown;
  /** An example of the answer, where its schema has none. */
  readonly shows?: unknown;
  /** Codes of errors in addition to those of every such operation. */
  readonly errors?: readonly ProblemCode[];
}
