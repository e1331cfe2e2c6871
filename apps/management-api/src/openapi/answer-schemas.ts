import { applicationTypes, destinationsMax, permissions } from '@glovebox/access';
import { runtimes } from '@glovebox/sandbox';
import { rulesMax } from '../applications/applications.dto';
import { parametersMax } from '../reactor-formulas/reactor-formulas.dto';
import { matchedMethods } from '../proxies/proxy-match';
import {
  allowedOriginsMax,
  listEntriesMax,
  matchedHostsMax,
  matchedPathsMax,
} from '../validation/resource-limits';
import { documentedCodes } from './operation-errors';
import { callAnswers } from './call-answer-schemas';
import { codeAnswers } from './code-operations';
import { deploymentAnswers } from './deployment-operations';
import { captureAnswers } from './capture-operations';
import { listenerAnswers } from './listener-operations';
import { peopleAnswers } from './people-operations';
import { dryRunAnswers } from './dry-run-operations';
import { messagesMax, pageEntriesMax, usedTokensMax } from './answer-bounds';
import { runAnswers } from './run-answer-schemas';
import {
  flag,
  instant,
  json,
  listOf,
  mapOf,
  object,
  oneOf,
  ref,
  text,
  uuid,
  whole,
  type Schema,
  type Schemas,
} from './schema';
import { requestSteps, responseSteps, stepSchemas } from './step-schemas';
import { searchIndexesMax } from '@glovebox/vault';

/**
 * Schemas of answers are written by hand: an interface leaves nothing to read at run time. Every
 * answer that a spec gets is checked against them (spec-conform.ts), without missing or extra members.
 */
const example = {
  id: '6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10',
  tenant: '0b2f6d0e-8f2f-4a53-9d3d-6a1d3f1c2b7e',
  application: 'c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11',
  formula: 'b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42',
  instant: '2026-01-31T12:00:00.000Z',
};

const created = { created_by: example.application, created_at: example.instant };
const modified = { modified_by: example.application, modified_at: example.instant };

interface Members {
  readonly always: Schemas;
  readonly sometimes?: Schemas;
  readonly example: Readonly<Record<string, unknown>>;
}

/** Schema of the answers of list, get and update. */
const shown = ({ always, sometimes, ...rest }: Members): Schema => ({
  ...object(
    { ...always, created_at: instant, modified_at: instant },
    { ...sometimes, created_by: uuid, modified_by: uuid },
  ),
  example: { ...rest.example, ...created, ...modified },
});

/** Schema of the answer of a create, which has no `modified_by` and `modified_at`. */
const made = ({ always, sometimes, ...rest }: Members): Schema => ({
  ...object({ ...always, created_at: instant }, { ...sometimes, created_by: uuid }),
  example: { ...rest.example, ...created },
});

const destinations: Schema = {
  ...listOf(text, destinationsMax),
  description: 'Where the values may go. Left out: anywhere.',
};

const rule = object(
  {
    description: text,
    priority: whole,
    container: text,
    transform: oneOf(['reveal', 'mask', 'redact']),
    permissions: listOf(oneOf(permissions), listEntriesMax),
  },
  { destinations },
);

const allowedOrigins: Schema = {
  ...listOf(text, allowedOriginsMax),
  description: 'The origins of the pages in browsers that may call. Left out where there are none.',
};

const slug: Schema = { ...text, description: 'The name in files. Left out where there is none.' };

const application: Members = {
  always: {
    id: uuid,
    tenant_id: uuid,
    name: text,
    type: oneOf(applicationTypes),
    permissions: listOf(oneOf(permissions), listEntriesMax),
    rules: listOf(rule, rulesMax),
  },
  sometimes: { slug, expires_at: instant, allowed_origins: allowedOrigins },
  example: {
    id: example.application,
    tenant_id: example.tenant,
    name: 'Checkout',
    type: 'private',
    permissions: ['token:create', 'token:use'],
    rules: [],
  },
};

const key: Schema = { type: 'string', description: 'The API key. It is shown only once.' };

const withKey = (members: Members): Members => ({
  ...members,
  always: { ...members.always, key },
  example: { ...members.example, key: 'key_0000000000000000000000000000000' },
});

const applicationKey: Members = {
  always: { id: uuid },
  sometimes: { last_used_at: { ...instant, description: 'Accurate to the minute.' } },
  example: { id: example.id },
};

const parameter = { name: text, type: oneOf(['string', 'boolean', 'number', 'object']) };
const configurationEntry = object(
  { name: text, type: oneOf(['string', 'boolean', 'number']) },
  { description: text },
);

const endOfLife: Schema = {
  ...{ type: 'string', format: 'date' },
  description: 'The day on which support of the runtime ended. Absent while it is supported.',
};

/** One of them. */
const codeMembers = {
  code: { ...text, description: 'Absent where it is a bundle.' },
  code_sha256: { ...text, description: 'Of a bundle: GET /code/{sha256} has the text.' },
};

/** A formula within a reactor, without its code. */
const formulaSummary: Members = {
  always: {
    id: uuid,
    tenant_id: uuid,
    type: oneOf(['private']),
    name: text,
    configuration: listOf(configurationEntry, parametersMax),
    request_parameters: listOf(
      object({ ...parameter, optional: flag, loggable: flag }, { description: text }),
      parametersMax,
    ),
    runtime: oneOf(runtimes),
  },
  sometimes: {
    ...{ slug, description: text, icon: text, runtime_end_of_life: endOfLife },
    code_sha256: codeMembers.code_sha256,
  },
  example: {
    id: example.formula,
    tenant_id: example.tenant,
    type: 'private',
    name: 'Charge a card',
    configuration: [{ name: 'API_KEY', type: 'string' }],
    request_parameters: [{ name: 'card.number', type: 'string', optional: false, loggable: false }],
    runtime: 'node24',
  },
};

const formula: Members = {
  ...formulaSummary,
  sometimes: { ...formulaSummary.sometimes, code: codeMembers.code },
  example: { ...formulaSummary.example, code: 'module.exports = async (req) => ({ raw: {} })' },
};

const reactor: Members = {
  always: {
    id: uuid,
    tenant_id: uuid,
    name: text,
    formula: ref('ReactorFormulaSummary'),
    configuration: mapOf(text),
    isolation: oneOf(['warm', 'run']),
  },
  sometimes: { slug, application_id: uuid },
  example: {
    id: example.id,
    tenant_id: example.tenant,
    name: 'Charge with the bank',
    formula: { ...formulaSummary.example, ...created, ...modified },
    configuration: { API_KEY: 'secret of the bank' },
    isolation: 'warm',
  },
};

/** Answers to create and update show the application. Answers to list and get show its id alone. */
const reactorWithApplication: Members = {
  ...reactor,
  sometimes: { ...reactor.sometimes, application: ref('Application') },
};

const transform = object(
  {},
  { ...codeMembers, runtime: oneOf(runtimes), runtime_end_of_life: endOfLife },
);

const proxy: Members = {
  always: {
    id: uuid,
    key: { type: 'string', description: 'Calls of /proxy name the proxy by this key.' },
    name: text,
    destination_url: text,
    tenant_id: uuid,
    require_auth: flag,
    detokenize: flag,
    isolation: oneOf(['warm', 'run']),
  },
  sometimes: {
    slug,
    request_transform: transform,
    response_transform: transform,
    request_transforms: requestSteps,
    response_transforms: responseSteps,
    application_id: uuid,
    configuration: mapOf(text),
    timeout_ms: whole,
    scrub: { type: 'boolean', enum: [true] },
    client_certificate: object({ certificate: text }),
    certificate_authority: text,
    allowed_origins: allowedOrigins,
    match: object(
      { hosts: listOf(text, matchedHostsMax) },
      {
        methods: listOf(oneOf([...matchedMethods]), matchedMethods.length),
        paths: listOf(text, matchedPathsMax),
      },
    ),
    forward_to: oneOf(['request']),
  },
  example: {
    id: example.id,
    key: '4xYQ0bN2mVtW8rZc6KpLsE',
    name: 'The bank',
    destination_url: 'https://api.bank.example',
    tenant_id: example.tenant,
    require_auth: true,
    detokenize: true,
    isolation: 'warm',
  },
};

/** The operator creates tenants and has no id. */
const tenant: Members = {
  always: { id: uuid, name: text, settings: mapOf(text) },
  example: { id: example.tenant, name: 'Shop', settings: {} },
};

const token: Members = {
  always: { id: text, tenant_id: uuid, type: text, containers: listOf(text, 1) },
  sometimes: {
    data: {
      ...json,
      description:
        'The data where a rule reveals it, the mask where a permission or rule masks it.',
    },
    mask: {
      ...json,
      description: 'The mask as it was given. Without one, the mask of the type applies.',
    },
    metadata: mapOf(text),
    destinations,
    fingerprint: { ...text, description: 'Equal for tokens of the same type and data.' },
    fingerprint_expression: text,
    search_indexes: listOf(text, searchIndexesMax),
    expires_at: instant,
  },
  example: {
    id: example.id,
    tenant_id: example.tenant,
    type: 'card',
    data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
    containers: ['/pci/high/'],
    fingerprint: 'nV1hTz0lq0m3J8Y2n7fX5q0r2y8kq9m4H1s6Zc3dWfA',
  },
};

/** One page of a list. */
const pageOf = (item: string): Schema =>
  object({ pagination: ref('Pagination'), data: listOf(ref(item), pageEntriesMax) });

export const answers: Schemas = {
  Application: shown(application),
  CreatedApplication: made(withKey(application)),
  RegeneratedApplication: shown(withKey(application)),
  ApplicationKey: made(applicationKey),
  CreatedApplicationKey: made(withKey({ ...applicationKey, sometimes: {} })),
  ApplicationPage: pageOf('Application'),
  ReactorFormula: shown(formula),
  ReactorFormulaSummary: shown(formulaSummary),
  CreatedReactorFormula: made(formula),
  ReactorFormulaPage: pageOf('ReactorFormula'),
  Reactor: shown(reactor),
  UpdatedReactor: shown(reactorWithApplication),
  CreatedReactor: made(reactorWithApplication),
  ReactorPage: pageOf('Reactor'),
  ...stepSchemas,
  Proxy: shown(proxy),
  CreatedProxy: made(proxy),
  ProxyPage: pageOf('Proxy'),
  Token: shown(token),
  CreatedToken: made(token),
  TokenPage: pageOf('Token'),
  Decision: {
    ...object(
      {
        allowed: flag,
        container: { ...text, description: 'That of the token, by which rules decide.' },
        transform: {
          type: 'string',
          enum: ['reveal', 'mask', 'redact', null],
          nullable: true,
          description: 'How much of the data the application gets. Null: nothing covers the token.',
        },
        by: { type: 'string', enum: ['rule', 'permission', null], nullable: true },
        reason: text,
      },
      {
        rule: { ...rule, description: 'The one that decides.' },
        shown: ref('Token'),
      },
    ),
    example: {
      allowed: true,
      container: '/pci/high/',
      transform: 'mask',
      by: 'rule',
      rule: {
        ...{ description: '', priority: 1, container: '/pci/', transform: 'mask' },
        permissions: ['token:read'],
      },
      reason: 'A rule for /pci/ of priority 1 gives the mask.',
    },
  },
  Tenant: shown(tenant),
  LogLine: {
    ...object(
      {
        id: text,
        operation: text,
        entity_type: text,
        entity_id: text,
        outcome: text,
        trace_id: text,
        created_at: instant,
      },
      {
        actor_id: uuid,
        actor: object({ type: oneOf(['person', 'application']), id: uuid }, { name: text }),
        token_ids: listOf(text, usedTokensMax),
        destination_host: text,
        reason: text,
      },
    ),
    example: {
      id: '4711',
      actor_id: example.application,
      actor: { type: 'application', id: example.application, name: 'management' },
      operation: 'proxy.create',
      entity_type: 'proxy',
      entity_id: example.id,
      outcome: 'success',
      trace_id: 'order-7',
      created_at: example.instant,
    },
  },
  LogPage: pageOf('LogLine'),
  ...deploymentAnswers,
  ...codeAnswers,
  ...captureAnswers,
  ...listenerAnswers,
  ...dryRunAnswers,
  ...callAnswers,
  ...peopleAnswers,
  ...runAnswers,
  Permission: {
    ...object({
      type: oneOf(permissions),
      description: text,
      application_types: listOf(oneOf(applicationTypes), applicationTypes.length),
    }),
    example: { type: 'token:use', description: 'Use tokens', application_types: ['private'] },
  },
  WebhookSecret: {
    ...object({ secret: text }),
    example: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  },
  ForwardCa: {
    ...object({ certificates: text }, { signs_from: instant }),
    example: {
      certificates: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
    },
  },
  Pagination: {
    ...object(
      { total_items: whole, page_number: whole, page_size: whole, total_pages: whole },
      {
        total_items_is_estimate: {
          ...flag,
          description: 'There are more than 10,000 entries, and their number is not exact.',
        },
        after: { ...text, description: 'Gives the next page. Absent at the end.' },
      },
    ),
    example: {
      total_items: 41,
      page_number: 1,
      page_size: 20,
      total_pages: 3,
      after: 'MTc5MzU1MzQ2NzAwMC4yMC42ZjBkNmQzYS01YzBiLTRiM2UtOWQwYy0wYTRjMWUxZjdhMTA',
    },
  },
  ReactorResponse: {
    ...object({}, { tokens: json, raw: json }),
    description: 'The result of the code: `tokens` made of its `tokenize`, and its `raw`.',
    example: { raw: { approved: true } },
  },
  AsyncRequest: {
    ...object({ async_request_id: uuid, asyncReactorRequestId: uuid }),
    example: { async_request_id: example.id, asyncReactorRequestId: example.id },
  },
  Problem: {
    ...object(
      { title: text, status: whole, code: oneOf(documentedCodes) },
      {
        detail: text,
        cause: {
          ...object(
            {
              phase: oneOf([
                ...['name', 'connect', 'tls', 'send', 'first_byte', 'body'],
                ...['transform', 'lookup'],
              ]),
              reason: text,
            },
            { address: text, port: whole, destination_status: whole },
          ),
          description:
            'Where a call of a proxy or reactor failed, and why. Only for calls with a key of the ' +
            'tenant, and never for a destination that may not be reached.',
        },
        errors: mapOf(listOf(text, messagesMax)),
        position: object({ line: whole, column: whole }),
        ended: object({ outcome: text, http_status: whole, at: instant }, { run_id: uuid }),
        conflicts: {
          ...listOf(ref('DeploymentConflict'), 20),
          description: 'Of a deployment: the first 20 resources that were changed meanwhile.',
        },
      },
    ),
    description:
      'The body of every error. `code` is stable; `errors` lists messages by member; `position` is ' +
      'the place in code of yours where an error was made; `ended` says how the work ended whose ' +
      'answer is not shown any more.',
    example: {
      title: 'One or more validation errors occurred.',
      status: 400,
      code: 'validation_failed',
      errors: { name: ['must be at most 200 characters'] },
    },
  },
  ProxyError: {
    ...object({ proxy_error: ref('Problem') }),
    description:
      'The proxy itself failed. Answers of the destination carry `SVC-PROXY-DESTINATION-STATUS`.',
  },
};
