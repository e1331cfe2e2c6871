import type { Dto } from '../validation/dto-members';
import type { Schema } from './schema';

/** What the code does not say of an operation by itself. */
export interface OperationText {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** The schema of its success; none where the answer has no body. */
  readonly answer?: string | Schema;
  /** A success of another kind: its status, why it is that, and its schema. */
  readonly otherwise?: {
    readonly status: number;
    readonly description: string;
    readonly answer: string;
  };
  /** A PATCH: the document that it patches. */
  readonly patches?: Dto;
  /** A body that no class describes. */
  readonly takes?: Schema;
  readonly query?: Readonly<
    Record<string, { description: string; schema: Schema; many?: boolean }>
  >;
  /** An example of the body. */
  readonly body?: unknown;
  /** Statuses of errors beside those that every operation of its kind has. */
  readonly errors?: readonly number[];
}
