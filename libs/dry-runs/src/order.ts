import type { Principal } from '@glovebox/access';
import type { FormulaDefinition, ProxyDefinition, ReactorDefinition } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';

/** Where gateways take the orders of management APIs. */
export const dryRunsPath = '/internal/dry-runs';

/** Code, which may be as large as a bundle, arguments or messages, and what is around them. */
export const orderBytesMax = 10 * 1024 * 1024;

const version = 2;

interface Order {
  /** The dry run: its process and its lines are nobody else's. */
  readonly id: string;
  /** Checked a moment ago by the management API. An application is looked up again. */
  readonly caller: Principal;
  readonly traceId: string;
  /**
   * The stored resource whose configuration the code gets. It is read by the gateway, so that it is
   * in no order. Null: the order has the values.
   */
  readonly configurationOf: string | null;
  /**
   * A debugger sees the code, and all that it holds. So it holds nothing that its author did not send:
   * no value of a token, and nothing stored.
   */
  readonly inspect?: string;
}

/** Unsaved code of a reactor, and what it is to run on. */
export interface ReactorRehearsal extends Order {
  readonly kind: 'reactor';
  readonly reactor: ReactorDefinition;
  readonly formula: FormulaDefinition;
  readonly args: Readonly<Record<string, unknown>> | string;
  readonly network: boolean;
  /** The code gets `req.svc`, and its tokens are stored. */
  readonly svc: boolean;
}

/** A message as text, with headers as name, value, name, value… */
interface TextMessage {
  readonly headers: readonly string[];
  readonly body: string | null;
}

/** A step whose value is the one that a step of the stored proxy appends. */
export interface KeptValue {
  readonly side: 'requestSteps' | 'responseSteps';
  readonly at: number;
  /** The place in the list of the stored proxy. */
  readonly from: number;
}

/** An unsaved proxy, and the messages that it is to change. */
export interface ProxyRehearsal extends Order {
  readonly kind: 'proxy';
  /** The id of the stored one, if there is one. */
  readonly proxy: ProxyDefinition;
  /** Like the configuration, they are in no order. */
  readonly kept: readonly KeptValue[];
  readonly request: TextMessage & {
    readonly method: string;
    readonly suffix: string;
    /** Without its question mark. */
    readonly query: string;
  };
  readonly answer: (TextMessage & { readonly status: number }) | null;
}

export type DryRunOrder = ReactorRehearsal | ProxyRehearsal;

export const writeOrder = (order: DryRunOrder): Buffer =>
  Buffer.from(JSON.stringify({ v: version, order }));

/** Takes an order whose ticket was checked. One of another release is not carried out in part. */
export function toOrder(parsed: unknown): DryRunOrder {
  const { v, order } = parsed as { v: unknown; order: DryRunOrder };
  if (v === version) return order;
  throw new Problem('newer_definition', {
    detail: 'This process is of another release than the one that ordered the dry run.',
    retryAfterSeconds: 1,
  });
}
