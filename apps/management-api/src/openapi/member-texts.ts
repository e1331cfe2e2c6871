import { isJsonObject } from '@glovebox/wire';
import type { Schema, Schemas } from './schema';

/**
 * Descriptions of members by name. Where a name means different things, entries with what it is in
 * come first: a schema, or the member around it.
 */
const texts: Readonly<Record<string, string>> = {
  // Deployments.
  'CreateDeployment.items': 'The set, in any order.',
  'CreateDeployment.project':
    'Whose files these are, where several folders deploy to one tenant. Each prunes what is its own alone.',
  prune:
    'Whether what files of the project had put in force, and is not among the items, is deleted.',
  force: 'Whether what was changed by hand meanwhile is overwritten.',
  'CreateDeployment.message': 'Why, for the list of deployments and the audit log.',
  'RollbackInput.message': 'Why, for the list of deployments and the audit log.',
  'Deployment.message': 'Why, in the words of its author.',
  'DeploymentDetails.message': 'Why, in the words of its author.',
  'CreateDeployment.dry_run': 'Whether the answer alone is wanted: nothing is changed.',
  'RollbackInput.dry_run': 'Whether the answer alone is wanted: nothing is changed.',
  newest_id:
    'The newest deployment of the project, as the caller knows it. Where it is another one, nothing is changed.',
  'DeployedApplication.kind': 'An application.',
  'DeployedReactor.kind': 'A reactor with its formula.',
  'DeployedProxy.kind': 'A proxy.',
  'DeploymentChange.kind': 'What it is.',
  'DeploymentConflict.kind': 'What it is.',
  'DeployedApplication.id': 'Names a resource that has no slug yet.',
  'DeployedReactor.id': 'Names a resource that has no slug yet.',
  'DeployedProxy.id': 'Names a resource that has no slug yet.',
  etag: 'The version that may be overwritten, as a conflict or a dry run told it.',
  'DeployedReactor.formula': 'Its code, with what the code declares.',
  change: 'What the deployment does to it.',
  changes: 'What the deployment does to each resource.',
  counts: 'Of the resources, by what the deployment did to them.',
  created: 'Resources that were made.',
  updated: 'Resources that were changed.',
  unchanged: 'Resources that stayed as they were.',
  pruned: 'Resources that were deleted.',
  // Every resource.
  id: 'The id.',
  'CreateToken.id': 'An id of your own. Made for you by default.',
  'actor.id': 'The id of the application or person.',
  tenant_id: 'The tenant that owns it.',
  name: 'A name for people. It need not be unique.',
  'configuration.name': 'The name, as code reads it: `req.configuration.NAME`.',
  'ConfigurationInput.name': 'The name, as code reads it: `req.configuration.NAME`.',
  'request_parameters.name': 'The path of the argument: `card.number`.',
  'ParameterInput.name': 'The path of the argument: `card.number`.',
  'options.name': 'The name of the header or of the parameter of the query.',
  created_by: 'The application that made it. Absent where the operator or a person did.',
  created_at: 'When it was made.',
  modified_by: 'The application that changed it last.',
  modified_at: 'When it was changed last.',
  slug: 'A name of your own for files and scripts, unique in the tenant.',
  description: 'A text for people.',
  expires_at: 'From then on it counts as deleted.',
  application: 'The application that code acts as, through `svc` and in steps.',
  application_id: 'The id of the application that code acts as, through `svc` and in steps.',
  isolation: '`warm`: processes of the code are used again. `run`: each run has a new one.',
  from: 'Nothing earlier.',
  to: 'Nothing later.',
  data: 'The entries, in order.',
  'CallSummary.data': 'The counts, the newest minute first.',
  'CreateToken.data': 'The data: any JSON, in the form of its type.',
  'TokenChangePatch.data': 'The new data, in the form of the type.',
  status: 'Where it stands.',

  // Applications.
  'Application.type': '`private` and `public` work with tokens, `management` with everything else.',
  'CreateApplication.type':
    '`private` and `public` work with tokens, `management` with everything else.',
  permissions: 'What it may do.',
  rules: 'Exceptions by container, the lowest priority first.',
  priority: 'Rules are tried from 1 upwards. The first that covers a token decides.',
  container: 'Tokens in this container and below it.',
  transform: 'How much of the data is shown.',
  destinations: 'Where the values may go: hosts, with a port or the beginning of a path.',
  allowed_origins: 'The origins of the pages in browsers that may call.',
  match: 'The requests of forward mode that it handles. The most specific proxy handles a request.',
  hosts: '`host`, `*.host`, either with `:port`. https, unless `http://` stands before it.',
  methods: 'Without them: all.',
  paths: 'Beginnings of paths, by whole segments. Without them: all.',
  forward_to: '`request`: to the origin that the request names, in place of `destination_url`.',
  certificates: 'PEM: the newest, and behind it the one that still signs.',
  signs_from: 'The newest signs from then on. Absent where it signs already.',
  token_id: 'The token that is asked about.',
  permission: 'The permission that is asked about.',
  'Permission.type': 'The name of the permission.',
  application_types: 'The types of applications that may hold it.',
  allowed: 'Whether the application may.',
  by: 'What decides: a rule, or the permission itself.',
  'Decision.reason': 'Why, in words.',

  // Formulas, reactors and proxies.
  'FormulaInput.type': 'Always `private`.',
  type: 'The kind.',
  'configuration.type': 'What the value has to be.',
  'ConfigurationInput.type': 'What the value has to be.',
  'request_parameters.type': 'What the argument is cast to.',
  'ParameterInput.type': 'What the argument is cast to.',
  icon: 'The address of a picture, or a small picture as a data URL.',
  code: 'CommonJS that exports one function.',
  code_sha256: 'The SHA-256 of code that was uploaded, in its place.',
  sha256: 'The SHA-256 of the text, in lower-case hexadecimal digits.',
  held_until: 'It stays at least so long without a resource that names it.',
  map: 'The JSON of a source map, version 3.',
  source: 'The file of the place. Absent: it is the code that ran.',
  'Problem.code': 'The stable name of the error. Decide by it.',
  'error.code': 'The stable name of the error. Decide by it.',
  runtime: 'The Node.js that runs the code.',
  configuration: 'Values by name, which code reads. Stored sealed.',
  'ReactorFormula.configuration': 'The values that a reactor of it has to give.',
  'ReactorFormulaSummary.configuration': 'The values that a reactor of it has to give.',
  'CreatedReactorFormula.configuration': 'The values that a reactor of it has to give.',
  'FormulaInput.configuration': 'The values that a reactor of it has to give.',
  'FormulaInputPatch.configuration': 'The values that a reactor of it has to give.',
  'RehearsedFormula.configuration': 'The values that a reactor of it has to give.',
  request_parameters: 'The arguments that it takes. Without any, it takes all as they come.',
  optional: 'Whether a call may leave it out.',
  loggable: 'Whether its value may be shown in the output of runs.',
  formula: 'The formula whose code runs.',
  destination_url: 'Where calls go. They append their path and query.',
  request_transform: 'Code that changes the request.',
  response_transform: 'Code that changes the answer.',
  require_auth: 'Whether calls need a key of an application with `token:use`.',
  detokenize: 'Whether expressions in requests are replaced.',
  scrub: 'Whether what a call puts in is taken out of its answer.',
  timeout_ms: 'How long the destination may take to answer, in milliseconds.',
  client_certificate: 'The certificate that the proxy shows to the destination.',
  certificate: 'The certificate as PEM. Intermediate ones may follow it.',
  private_key: 'Its key as PEM. It is never shown again.',
  certificate_authority: 'The authorities as PEM that vouch for the destination.',

  // Steps.
  'RequestStep.type': 'What the step does.',
  'ResponseStep.type': 'What the step does.',
  'KeepableRequestStep.type': 'What the step does.',
  'KeepableResponseStep.type': 'What the step does.',
  options: 'What it works on.',
  location: 'The part of the message.',
  value: 'What is put there. In a request it may hold expressions, which act as the application.',
  value_set: 'In the place of a value: the one stays that is stored for this place of this list.',
  expression: 'A filter, such as `reveal_last: 4`.',
  enabled: '`false` leaves what is at the path as it is.',
  token: 'The token that is made of each value at the path.',

  // Tokens.
  'Token.type': 'The type, which decides the form of the data and its mask.',
  'CreatedToken.type': 'The type, which decides the form of the data and its mask.',
  'CreateToken.type': 'The type, which decides the form of the data and its mask.',
  'token.type': 'The type, which decides the form of the data and its mask.',
  containers: 'The container that it is in.',
  mask: 'What is shown in the place of the data, with expressions over it.',
  metadata: 'Texts by name, stored in the clear: lists filter by them.',
  search_indexes: 'Expressions over the data, by whose values it is found.',
  fingerprint_expression: 'What of the data the fingerprint is made of.',
  deduplicate_token: 'Whether a token with the same fingerprint is answered in place of a new one.',
  query: 'The terms.',
  'RehearsedRequest.query': 'The query, without its `?`.',
  page: 'The number of the page, from 1.',
  size: 'Entries on a page.',
  after: 'The `after` of the page before, in place of `page`.',

  // Captures, people.
  until: 'When it ends by itself.',
  whole: 'Whether texts are kept, and not shapes alone.',
  minutes: 'How long calls are kept.',
  format: 'What the body was read as.',
  person: 'The person that signed in.',
  role: 'What the person may do.',

  request_transforms: 'Changes of the request without code.',
  response_transforms: 'Changes of the answer without code.',

  // The tenant.
  settings: 'Settings of the tenant.',
  secret: 'The secret, as verifiers of Standard Webhooks take it.',

  // Pages.
  total_items: 'The number of all entries.',
  page_number: 'The number of this page.',
  page_size: 'Entries of a page, as asked for.',
  total_pages: 'The number of pages.',

  // Errors.
  title: 'The same for every error with this code.',
  'Problem.status': 'The HTTP status.',
  'error.status': 'The HTTP status.',
  detail: 'More about this error. Its wording may change.',
  errors: 'Messages by the path of a member.',
  cause: 'Where it failed, and why.',
  phase: 'How far the call had come.',
  reason: 'Why, in words that may change.',
  'LogLine.reason': 'Why, as the person said.',
  address: 'The address, where the URL has it in the place of a name.',
  port: 'The port, where the URL names one.',
  destination_status: 'The status of the destination, where it had answered.',
  position: 'The place in the code.',
  line: 'The line, from 1.',
  column: 'The column, from 1.',
  function: 'The name of the function.',
  stack: 'The calls in the code, the innermost first.',
  message: 'The message of the error.',
  ended: 'How the work ended whose answer is not shown any more.',
  http_status: 'The status that was answered.',

  // Logs.
  operation: 'What was done.',
  entity_type: 'The kind of what it was done to.',
  entity_id: 'The id of what it was done to.',
  outcome: 'How it ended.',
  trace_id: 'The `SVC-TRACE-ID` of the call.',
  actor_id: 'The id of the application or person that did it.',
  actor: 'The application or person that did it.',
  'actor.type': 'A person of the console, or an application.',
  token_ids: 'The tokens that were used.',
  destination_host: 'The host that data went to.',
  at: 'When.',
  level: '`info`, `warn`, `error` or `debug`.',
  'runners.level': 'The level of its sandbox, from 1 to 3.',
  text: 'The text.',
  lines: 'The output of `console`.',
  side: 'The transform that wrote it.',
  duration_ms: 'Milliseconds of work.',
  method: 'The method.',
  url: 'The whole URL.',
  headers: 'Values by name. A header that comes several times has a list.',
  body: 'The body, as text.',
  request: 'The request, as it would leave.',
  answer: 'The answer, as the caller would get it.',
  failed_at: 'The side that failed.',
  path: 'The path behind `/proxy`.',
  'transforms.request': 'The run of the request transform.',
  'transforms.response': 'The run of the response transform.',

  // The overview and calls.
  hours: 'The length of the time, in hours.',
  totals: 'All calls together.',
  resources: 'Counts by path, proxy and reactor.',
  calls: 'The number of calls.',
  failed: 'Those with the outcome `failed` or `destination_error`.',
  p95_ms: '95 of 100 calls took at most this long.',
  waiting: 'What is not done yet.',
  runs: 'Async runs.',
  deliveries: 'Webhooks.',
  pending: 'Those that wait.',
  running: 'Those at work.',
  held: 'Those that wait for the operator, after a restore.',
  truncated: 'Whether something is left out.',
  app: 'The app: `gateway`, `worker` or `management-api`.',
  version: 'Its release.',
  seen_at: 'When it was heard of last.',
  ended_ms: 'To the end.',
  decided_ms: 'To the decision.',
  asked_ms: 'To the request to the destination.',
  answered_ms: 'To the head of the answer.',
  proxy_id: 'The proxy.',
  reactor_id: 'The reactor.',
  started_at: 'When it began.',
  ended_at: 'When it ended.',

  // Runs and webhooks.
  kind: 'Of a reactor, or of a transform.',
  argument_names: 'The names of the arguments. One that may be data is `?`.',
  queued_ms: 'Milliseconds between its acceptance and its start.',
  async_request_id: 'The id of the run, and of its result.',
  asyncReactorRequestId: 'The same, for existing clients.',
  again: 'What happens again.',
  callback_host: 'The host that gets the result.',
  callback: 'Whether the result is sent to where that of the run went.',
  webhook: 'The webhook that reports it.',
  attempts: 'The attempts, the oldest first.',
  result: 'The answer of the run.',
  ms: 'Milliseconds until its end.',
  run_id: 'The run.',
  webhook_id: 'The `webhook-id` of every attempt.',
  host: 'The host, without a port.',
  next_attempt_at: 'When it is tried next.',
  matched: 'Webhooks that were selected.',
  queued: 'Those of them that are sent again.',
  gone: 'Those whose data could not be opened now.',
  count: 'The number that would be sent again.',
  limit: 'How many are taken at most, the newest first.',
  dry_run: 'Whether they are counted alone.',
  tokens: 'What the code had tokenized, in its shape.',
  raw: 'What the code returned as `raw`.',
  args: 'The arguments.',
  network: 'Whether the code may connect.',
  svc: 'Whether the code has `svc`.',
  inspect:
    'The session of a debugger that is to see the code, as `glovebox dev --inspect` makes it.',
};

/** Descriptions of schemas that members refer to. */
const schemaTexts: Readonly<Record<string, string>> = {
  DeployedFormula: 'The formula, which is the own one of the reactor.',
  DeployedReference: 'Another resource, by its slug.',
  CaptureWindow: 'The capture that is on.',
  Application: 'A caller, with what it may do.',
  Token: 'Stored data, as far as the caller may see it.',
  ReactorFormulaSummary: 'The formula of a reactor, without its code.',
  Pagination: 'Where the page is in the list.',
  CursorPagination: 'Where the part is in the log.',
  FormulaReference: 'The formula.',
  ApplicationReference: 'The application that code acts as, through `svc` and in steps.',
  TransformInput: 'Code that changes the message. Without code there is none.',
  RehearsedTransform: 'Code that changes the message. Without code there is none.',
  MatchInput:
    'The requests of forward mode that it handles. The most specific proxy handles a request.',
  ClientCertificateInput: 'The certificate that the proxy shows to the destination.',
  RehearsedFormula:
    'A formula by its id, or unsaved; with both, the stored one with these changes.',
  RehearsedReactor: 'The unsaved reactor.',
  RehearsedProxy: 'The unsaved proxy.',
  RehearsedRequest: 'The request, as a caller would send it.',
  RehearsedAnswer: 'The answer, as the destination would send it.',
  ReplayFilter: 'Which webhooks. Those that have ended are taken alone.',
};

const namesIn = (inside: string, name: string): readonly string[] => [`${inside}.${name}`, name];

/** The schemas, with a description for each member that has none of its own. */
export function describeMembers(schemas: Schemas): Schemas {
  const withText = (member: Schema, inside: string, name: string): Schema => {
    if (member.description !== undefined || member.$ref !== undefined) return member;
    const found = namesIn(inside, name).find((one) => Object.hasOwn(texts, one));
    return found === undefined ? member : { ...member, description: texts[found] };
  };
  const described = (value: unknown, inside: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => described(one, inside));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([keyword, part]) => {
        if (keyword === 'properties' && isJsonObject(part)) {
          const members = Object.entries(part).map(
            ([name, member]) =>
              [name, withText(described(member, name) as Schema, inside, name)] as const,
          );
          return [keyword, Object.fromEntries(members)];
        }
        return [keyword, within.has(keyword) ? described(part, inside) : part];
      }),
    );
  };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { [name]: description } = schemaTexts;
      const whole = described(schema, name) as Schema;
      return [name, description === undefined ? whole : { ...whole, description }];
    }),
  );
}

/** Keywords that hold schemas of the same thing. */
const within: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'oneOf',
  'anyOf',
  'allOf',
]);
