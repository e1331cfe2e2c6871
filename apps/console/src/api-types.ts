/** What the page reads of the API's answers (docs/openapi.json). */

export type Outcome = 'completed' | 'destination_error' | 'failed' | 'left';

export interface Cause {
  phase: string;
  reason: string;
  address?: string;
  port?: number;
  destination_status?: number;
}

export interface Position {
  line: number;
  column: number;
  /** A file of the author. Absent: it is the code that ran. */
  source?: string;
}

export interface Problem {
  title: string;
  status: number;
  code: string;
  detail?: string;
  cause?: Cause;
  errors?: Record<string, string[]>;
  position?: Position;
}

/** Pages of every list are continued by `after`; only some count their entries. */
export interface Page<Entry> {
  pagination: { after?: string; total_items?: number; total_items_is_estimate?: boolean };
  data: Entry[];
}

export interface Session {
  person: { id: string; name: string };
  role: 'viewer' | 'author' | 'admin';
  permissions: string[];
  tenant: { id: string; name: string };
  idle_minutes: number;
}

export interface Call {
  id: string;
  method: string;
  path: string;
  outcome: Outcome;
  status?: number;
  destination_status?: number;
  code?: string;
  cause?: Cause;
  application_id?: string;
  proxy_id?: string;
  reactor_id?: string;
  trace_id?: string;
  started_at?: string;
  ended_at: string;
  phases?: Partial<Record<PhaseMember, number>>;
  request_bytes?: number;
  answer_bytes?: number;
  token_ids: string[];
  run_id?: string;
  transforms?: { request?: string; response?: string };
  count: number;
  sampled?: boolean;
}

export type PhaseMember =
  | 'decided_ms'
  | 'asked_ms'
  | 'name_ms'
  | 'connected_ms'
  | 'tls_ms'
  | 'sent_ms'
  | 'answered_ms'
  | 'ended_ms';

export interface Run {
  id: string;
  kind: 'reactor' | 'transform';
  mode: 'sync' | 'async' | 'request' | 'response';
  resource_id: string;
  application_id?: string;
  status: 'pending' | 'running' | 'held' | 'completed' | 'failed';
  outcome?: string;
  http_status?: number;
  argument_names?: string[];
  token_ids?: string[];
  trace_id: string;
  attempt: number;
  queued_ms?: number;
  duration_ms?: number;
  position?: Position;
  created_at: string;
  started_at?: string;
  ended_at?: string;
  arguments_kept_until?: string;
  /** The run that it repeats. */
  rerun_of?: string;
}

export interface RunDetails extends Run {
  message?: string;
  stack?: (Position & { function?: string })[];
  lines: ConsoleLine[];
  webhook?: { status: Delivery['status']; attempts: Attempt[] };
  /** Of that moment, where it is still kept. */
  code?: string;
  /** In the place of code that was uploaded. */
  code_sha256?: string;
  /** Other code runs now. */
  code_changed?: boolean;
}

export interface ConsoleLine {
  at: string;
  level: string;
  text: string;
}

export interface Attempt {
  at: string;
  ms: number;
  outcome: 'delivered' | 'rejected' | 'timed_out' | 'unreachable';
  status?: number;
  cause?: Cause;
}

export interface Delivery {
  id: string;
  run_id: string;
  webhook_id: string;
  reactor_id?: string;
  host: string;
  status: 'pending' | 'held' | 'delivered' | 'failed';
  outcome?: string;
  attempts: Attempt[];
  replayable: boolean;
  created_at: string;
  next_attempt_at?: string;
  ended_at?: string;
}

export interface LogLine {
  id: string;
  operation: string;
  entity_type: string;
  entity_id: string;
  outcome: string;
  trace_id: string;
  created_at: string;
  actor_id?: string;
  actor?: { type: 'person' | 'application'; id: string; name?: string };
  token_ids?: string[];
  destination_host?: string;
  reason?: string;
}

export interface Token {
  id: string;
  type: string;
  containers: string[];
  data?: unknown;
  mask?: unknown;
  metadata?: Record<string, string>;
  destinations?: string[];
  fingerprint?: string;
  fingerprint_expression?: string;
  search_indexes?: string[];
  expires_at?: string;
  created_at: string;
  created_by?: string;
  modified_at?: string;
  modified_by?: string;
}

export interface Parameter {
  name: string;
  type: string;
  description?: string;
  optional?: boolean;
  loggable?: boolean;
}

export type Runtime = 'node16' | 'node20' | 'node22' | 'node24';

export interface Formula {
  id: string;
  name: string;
  description?: string;
  code?: string;
  /** In the place of code that was uploaded. */
  code_sha256?: string;
  runtime: Runtime;
  runtime_end_of_life?: string;
  configuration: Parameter[];
  request_parameters: Parameter[];
  created_at: string;
  modified_at?: string;
}

export interface Reactor {
  id: string;
  name: string;
  formula: Omit<Formula, 'code'>;
  /** The names that have a value: people never see the values. */
  configuration_set: string[];
  /** Only what is set anew. */
  configuration?: Record<string, unknown>;
  isolation: 'warm' | 'run';
  application_id?: string;
  created_at: string;
  modified_at?: string;
}

export interface Transform {
  code?: string;
  /** In the place of code that was uploaded. */
  code_sha256?: string;
  runtime?: Runtime;
}

export interface ProxyResource {
  id: string;
  key?: string;
  name: string;
  destination_url: string;
  require_auth: boolean;
  detokenize: boolean;
  scrub?: boolean;
  isolation: 'warm' | 'run';
  timeout_ms?: number;
  application_id?: string;
  configuration_set: string[];
  configuration?: Record<string, unknown>;
  request_transform?: Transform;
  response_transform?: Transform;
  request_transforms?: unknown[];
  response_transforms?: unknown[];
  allowed_origins?: string[];
  /** Members that are null are taken away. */
  match?: { hosts: string[]; methods?: string[] | null; paths?: string[] | null };
  forward_to?: 'request';
  /** The private key only where it is set anew. */
  client_certificate?: { certificate: string; private_key?: string };
  certificate_authority?: string;
  created_at: string;
  modified_at?: string;
}

export interface Rule {
  description: string;
  priority: number;
  container: string;
  transform: 'reveal' | 'mask' | 'redact';
  permissions: string[];
  destinations?: string[];
}

export interface Application {
  id: string;
  name: string;
  type: 'private' | 'public' | 'management';
  permissions: string[];
  rules: Rule[];
  expires_at?: string;
  allowed_origins?: string[];
  created_at: string;
  modified_at?: string;
}

export interface ApplicationKey {
  id: string;
  created_at: string;
  created_by?: string;
  last_used_at?: string;
}

export interface Overview {
  from: string;
  to: string;
  hours: number;
  totals: Figures;
  resources: (Figures & {
    resource: string;
    proxy_id?: string;
    reactor_id?: string;
    name?: string;
  })[];
  truncated?: boolean;
  series: { at: string; calls: number; failed: number }[];
  waiting: {
    /** A number as large as this means that or more. */
    counted_max: number;
    runs: { pending: number; running: number; held: number; oldest_due_at?: string };
    deliveries: { pending: number; failing: number; held: number; oldest_due_at?: string };
  };
  failures: Call[];
  processes: {
    id: string;
    app: string;
    version: string;
    definition_lag: number;
    seen_at: string;
  }[];
  /** As gateways and workers see them. */
  runners?: { version?: string; level?: number | string }[];
}

export interface Figures {
  calls: number;
  failed: number;
  p50_ms?: number;
  p95_ms?: number;
}

/** Capturing is on for a while. */
export interface CaptureWindow {
  proxy_id: string;
  until: string;
  whole: boolean;
}

export interface CaptureLine {
  id: string;
  trace_id: string;
  method: string;
  status?: number;
  code?: string;
  whole: boolean;
  bytes: number;
  created_at: string;
}

export interface Captures extends Page<CaptureLine> {
  window?: CaptureWindow;
}

/** A message, with types and lengths in the place of its values. */
export interface CapturedMessage {
  method?: string;
  host?: string;
  path?: string;
  query?: string;
  status?: number;
  headers: [name: string, value: string][];
  body?: { type?: string; format: string; bytes: number; text?: string; cut?: boolean };
}

export interface Capture extends CaptureLine {
  request: CapturedMessage;
  sent?: CapturedMessage;
  received?: CapturedMessage;
  /** Where it is another one than the destination's. */
  answer?: CapturedMessage;
}
