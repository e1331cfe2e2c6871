import { applicationTypes, permissions } from '@glovebox/access';
import { applicationKeysMax } from '../applications/application-keys.service';
import { CreateReactor } from '../reactors/reactors.dto';
import { FormulaInput } from '../reactor-formulas/reactor-formulas.dto';
import { UpdateApplication } from '../applications/applications.dto';
import { ProxyInput } from '../proxies/proxies.dto';
import { byIdAndName, page } from './list-queries';
import type { OperationText } from './operation-text';
import { callOperations } from './call-operations';
import { codeOperations } from './code-operations';
import { deploymentOperations } from './deployment-operations';
import { captureOperations } from './capture-operations';
import { listenerOperations } from './listener-operations';
import { dryRunOperations } from './dry-run-operations';
import { peopleOperations } from './people-operations';
import { runOperations } from './run-operations';
import { flag, instant, listOf, oneOf, ref, text } from './schema';
import { tokenOperations } from './token-operations';

const application = {
  name: 'Checkout',
  type: 'private',
  permissions: ['token:create', 'token:use'],
  rules: [{ priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:read'] }],
};
const proxy = {
  name: 'The bank',
  destination_url: 'https://api.bank.example',
  request_transform: { code: 'module.exports = async ({ args }) => args' },
  configuration: { API_KEY: 'secret' },
};
const formula = {
  name: 'Charge a card',
  code: 'module.exports = async (req) => ({ raw: { last4: req.args.card.number.slice(-4) } })',
  configuration: [{ name: 'API_KEY', type: 'string' }],
  request_parameters: [{ name: 'card.number', type: 'string' }],
};
const id = 'b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42';

/** Descriptions by method and path of the routes. */
export const operations: Readonly<Record<string, OperationText>> = {
  'POST /applications': {
    id: 'createApplication',
    summary: 'Create an application and its first key',
    description: 'Only this answer shows the key.',
    answer: 'CreatedApplication',
    body: application,
    errors: ['conflict'],
  },
  'GET /applications': {
    id: 'listApplications',
    summary: 'List applications, the newest first',
    answer: 'ApplicationPage',
    query: {
      ...byIdAndName,
      type: { description: 'Only applications of this type.', schema: oneOf(applicationTypes) },
    },
  },
  'GET /applications/key': {
    id: 'getOwnApplication',
    summary: 'Get the application of the caller',
    description: 'Any valid key is enough.',
    answer: 'Application',
  },
  'GET /applications/{id}': {
    id: 'getApplication',
    summary: 'Get an application',
    answer: 'Application',
  },
  'PUT /applications/{id}': {
    id: 'updateApplication',
    summary: 'Replace an application; its keys stay',
    answer: 'Application',
    body: application,
    errors: ['conflict'],
  },
  'PATCH /applications/{id}': {
    id: 'patchApplication',
    summary: 'Change members of an application',
    patches: UpdateApplication,
    body: { permissions: ['token:use'], expires_at: null },
    errors: ['conflict'],
  },
  'DELETE /applications/{id}': {
    id: 'deleteApplication',
    summary: 'Delete an application and its keys',
    description:
      'Refused with 409 while reactors or proxies use it, and where it has the last key without an ' +
      'end that may create applications.',
    query: {
      force: {
        description: 'Delete it although it is used. What needs it then gets `application_gone`.',
        schema: { ...flag, default: false },
      },
    },
    errors: ['conflict'],
  },
  'POST /applications/{id}/decisions': {
    id: 'decideForApplication',
    summary: 'Ask what the application may do with a token, and what it would see',
    description:
      'Decided by the rules that decide on its calls. Nothing is revealed: `shown` has the mask where the ' +
      'application would get the data, and is absent unless the caller itself may read the token.',
    answer: 'Decision',
    body: { token_id: 'c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11', permission: 'token:read' },
    errors: ['conflict', 'unknown_token'],
  },
  'POST /applications/{id}/regenerate': {
    id: 'regenerateApplicationKey',
    summary: 'Create a new key and revoke all others',
    answer: 'RegeneratedApplication',
    errors: ['conflict'],
  },
  'POST /applications/{id}/keys': {
    id: 'createApplicationKey',
    summary: 'Create another key',
    description: 'Only this answer shows it.',
    answer: 'CreatedApplicationKey',
    errors: ['conflict'],
  },
  'GET /applications/{id}/keys': {
    id: 'listApplicationKeys',
    summary: 'List the keys of an application, without the keys themselves',
    answer: listOf(ref('ApplicationKey'), applicationKeysMax),
  },
  'GET /applications/{id}/keys/{key_id}': {
    id: 'getApplicationKey',
    summary: 'Get a key, without the key itself',
    answer: 'ApplicationKey',
  },
  'DELETE /applications/{id}/keys/{key_id}': {
    id: 'deleteApplicationKey',
    summary: 'Revoke a key',
    description: 'The last one without an end that may create applications stays: 409.',
    errors: ['conflict'],
  },

  'POST /reactor-formulas': {
    id: 'createReactorFormula',
    summary: 'Create a reactor formula',
    description: 'The code is compiled and not run; what it requires by literal names must exist.',
    answer: 'CreatedReactorFormula',
    body: formula,
    errors: ['conflict', 'invalid_code'],
  },
  'GET /reactor-formulas': {
    id: 'listReactorFormulas',
    summary: 'List reactor formulas, the newest first',
    answer: 'ReactorFormulaPage',
    query: byIdAndName,
  },
  'GET /reactor-formulas/{id}': {
    id: 'getReactorFormula',
    summary: 'Get a reactor formula',
    answer: 'ReactorFormula',
  },
  'PUT /reactor-formulas/{id}': {
    id: 'updateReactorFormula',
    summary: 'Replace a reactor formula',
    description: 'What is left out returns to its default. In force from the next run.',
    answer: 'ReactorFormula',
    body: formula,
    errors: ['conflict', 'invalid_code'],
  },
  'PATCH /reactor-formulas/{id}': {
    id: 'patchReactorFormula',
    summary: 'Change members of a reactor formula',
    patches: FormulaInput,
    body: { description: null, name: 'Charge any card' },
    errors: ['conflict', 'invalid_code'],
  },
  'DELETE /reactor-formulas/{id}': {
    id: 'deleteReactorFormula',
    summary: 'Delete a reactor formula that no reactor uses',
    errors: ['conflict'],
  },

  'POST /reactors': {
    id: 'createReactor',
    summary: 'Create a reactor: a formula with its configuration',
    answer: 'CreatedReactor',
    body: { name: 'Charge with the bank', formula: { id }, configuration: { API_KEY: 'secret' } },
    errors: ['conflict'],
  },
  'GET /reactors': {
    id: 'listReactors',
    summary: 'List reactors, the newest first',
    answer: 'ReactorPage',
    query: byIdAndName,
  },
  'PUT /reactors/{id}': {
    id: 'updateReactor',
    summary: 'Replace a reactor; its formula stays',
    answer: 'UpdatedReactor',
    body: { name: 'Charge with the bank', configuration: { API_KEY: 'new secret' } },
    errors: ['conflict'],
  },
  'PATCH /reactors/{id}': {
    id: 'patchReactor',
    summary: 'Change members of a reactor',
    description: '`configuration` is merged key by key; `application: null` removes it.',
    patches: CreateReactor,
    body: { application: null, configuration: { API_KEY: 'new secret' } },
    errors: ['conflict'],
  },
  'DELETE /reactors/{id}': { id: 'deleteReactor', summary: 'Delete a reactor' },
  'GET /reactors/{id}': { id: 'getReactor', summary: 'Get a reactor', answer: 'Reactor' },

  'POST /proxies': {
    id: 'createProxy',
    summary: 'Create a proxy',
    answer: 'CreatedProxy',
    body: proxy,
    errors: ['conflict', 'invalid_code'],
  },
  'GET /proxies': {
    id: 'listProxies',
    summary: 'List proxies, the newest first',
    answer: 'ProxyPage',
    query: byIdAndName,
  },
  'GET /proxies/{id}': { id: 'getProxy', summary: 'Get a proxy', answer: 'Proxy' },
  'PUT /proxies/{id}': {
    id: 'updateProxy',
    summary: 'Replace a proxy; its key stays',
    answer: 'Proxy',
    body: proxy,
    errors: ['conflict', 'invalid_code'],
  },
  'PATCH /proxies/{id}': {
    id: 'patchProxy',
    summary: 'Change members of a proxy',
    description: '`configuration` is merged key by key; `application: null` removes it.',
    patches: ProxyInput,
    body: { application: null, configuration: { API_KEY: null } },
    errors: ['conflict', 'invalid_code'],
  },
  'DELETE /proxies/{id}': { id: 'deleteProxy', summary: 'Delete a proxy and revoke its key' },

  'GET /permissions': {
    id: 'listPermissions',
    summary: 'List all permissions, and the application types that may hold each',
    answer: listOf(ref('Permission'), permissions.length),
  },

  'GET /tenants/self': {
    id: 'getTenant',
    summary: 'Get the tenant of the caller',
    answer: 'Tenant',
  },
  'PUT /tenants/self': {
    id: 'updateTenant',
    summary: 'Replace name and settings of the tenant',
    answer: 'Tenant',
    body: { name: 'Shop', settings: { enable_ephemeral_proxy: 'true' } },
    errors: ['conflict'],
  },
  'GET /logs': {
    id: 'listLogs',
    summary: 'List the audit log, the newest first',
    answer: 'LogPage',
    query: {
      ...page,
      entity_type: { description: 'Only lines about this kind of entity.', schema: text },
      entity_id: { description: 'Only lines about this entity.', schema: text },
      operation: { description: 'Only lines of this operation.', schema: text },
      trace_id: { description: 'Only lines of this call.', schema: text },
      start_date: { description: 'Not before this time.', schema: instant },
      end_date: { description: 'Not after this time.', schema: instant },
    },
  },
  'DELETE /tenants/self': {
    id: 'deleteTenant',
    summary: 'Delete the tenant and everything in it',
    description: 'The name of the tenant is needed: here, or as `name` of a JSON body.',
    query: { name: { description: 'The name of the tenant.', schema: text } },
    errors: ['invalid_json', 'payload_too_large'],
  },
  'POST /tenants/self/webhook-secret/rotate': {
    id: 'rotateWebhookSecret',
    summary: 'Create a new secret. For 24 hours, the old one signs as well',
    answer: 'WebhookSecret',
  },
  'GET /tenants/self/webhook-secret': {
    id: 'getWebhookSecret',
    summary: 'Get the secret that signs webhooks',
    answer: 'WebhookSecret',
  },
  'GET /tenants/self/forward-ca': {
    id: 'getForwardCa',
    summary: 'Get the certificate authority that clients of forward mode must trust',
    description: 'It is made at the first call. Its key is never shown.',
    answer: 'ForwardCa',
    errors: ['conflict'],
  },
  'POST /tenants/self/forward-ca/rotate': {
    id: 'rotateForwardCa',
    summary: 'Create a new certificate authority. The one before it signs for 30 more days',
    description:
      'A second rotation within that time ends it: the newest but one signs at once, and nothing that the oldest has signed is shown any more.',
    answer: 'ForwardCa',
    errors: ['conflict'],
  },

  ...deploymentOperations,
  ...codeOperations,
  ...captureOperations,
  ...listenerOperations,
  ...dryRunOperations,
  ...callOperations,
  ...peopleOperations,
  ...runOperations,
  ...tokenOperations,
};
