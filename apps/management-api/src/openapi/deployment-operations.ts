import { byTime } from './list-queries';
import type { OperationText } from './operation-text';
import {
  instant,
  json,
  listOf,
  object,
  oneOf,
  ref,
  text,
  uuid,
  whole,
  type Schemas,
} from './schema';

const kind = oneOf(['application', 'reactor', 'proxy']);
const deploymentId = '019b7a3e-52c0-7c1a-9f3b-2d4e5f607182';
const reactorId = '6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10';
const time = '2026-01-31T12:00:00.000Z';
const memberNames = {
  ...listOf(text, 100),
  description: 'Their names; those of a formula by path.',
};

const change = object(
  {
    kind,
    slug: text,
    id: uuid,
    change: oneOf(['created', 'updated', 'unchanged', 'pruned']),
  },
  {
    members: { ...memberNames, description: 'The members that an update changes.' },
    etag: { ...text, description: 'In a dry run, of what stands: send it to overwrite that.' },
  },
);
const changes = [
  {
    ...{ kind: 'reactor', slug: 'charge', id: reactorId },
    ...{ change: 'updated', members: ['formula.code'] },
  },
];
const shown: readonly [Schemas, Schemas] = [
  {
    id: uuid,
    counts: object({ created: whole, updated: whole, unchanged: whole, pruned: whole }),
    trace_id: text,
    created_at: instant,
  },
  {
    message: text,
    project: { ...text, description: 'The project whose files it put in force.' },
    rollback_of: { ...uuid, description: 'The deployment that it returned to.' },
    created_by: uuid,
    actor: object({ type: oneOf(['person', 'application']), id: uuid }, { name: text }),
  },
];
const example = {
  id: deploymentId,
  counts: { created: 0, updated: 1, unchanged: 0, pruned: 0 },
  trace_id: 'push-7',
  message: 'Retry declined cards',
  project: 'shop',
  created_at: time,
};
const [always, sometimes] = shown;

export const deploymentAnswers: Schemas = {
  DeploymentChange: { ...change, example: changes[0] },
  DeploymentConflict: {
    ...object(
      { kind, slug: text, id: uuid, members: memberNames },
      {
        project: { ...text, description: 'The other project that put it in force.' },
        etag: { ...text, description: 'Of what stands. Absent: it was deleted.' },
        deployed: { ...json, description: 'The members as files put them in force.' },
        current: { ...json, description: 'The members as they stand.' },
      },
    ),
    example: {
      ...{ kind: 'reactor', slug: 'charge', id: reactorId, members: ['formula.code'] },
      etag: '"q0m3J8Y2n7fX5q0r2y8kq9"',
    },
  },
  Deployed: {
    ...object(
      { changes: listOf(ref('DeploymentChange'), 1_000) },
      {
        id: {
          ...uuid,
          description:
            'Of the deployment; where nothing changed, of the newest one of the project. Absent in a dry run.',
        },
      },
    ),
    example: { id: deploymentId, changes },
  },
  Deployment: { ...object(always, sometimes), example },
  DeploymentDetails: {
    ...object({ ...always, changes: listOf(ref('DeploymentChange'), 1_000) }, sometimes),
    example: { ...example, changes },
  },
  DeploymentPage: object({
    pagination: ref('CursorPagination'),
    data: listOf(ref('Deployment'), 100),
  }),
};

export const deploymentOperations: Readonly<Record<string, OperationText>> = {
  'POST /deployments': {
    id: 'createDeployment',
    summary: 'Put a set of reactors, proxies and applications in force, all at once or not at all',
    description:
      'No call sees a part of it. Each item is found by its `slug`. What was changed by hand since files ' +
      'put it in force is 409 `deployment_conflict`, and nothing is written. In `configuration` null ' +
      'keeps the stored value. A set that is in force already changes nothing.',
    answer: 'Deployed',
    body: {
      message: 'Retry declined cards',
      project: 'shop',
      items: [
        {
          ...{ kind: 'application', slug: 'checkout', name: 'Checkout', type: 'private' },
          permissions: ['token:use'],
        },
        {
          ...{ kind: 'reactor', slug: 'charge', name: 'Charge', application: { slug: 'checkout' } },
          formula: {
            code: 'module.exports = async (req) => ({ raw: {} });',
            runtime: 'node24',
            configuration: [{ name: 'API_KEY', type: 'string' }],
          },
          configuration: { API_KEY: null },
        },
      ],
    },
    errors: ['conflict', 'deployment_conflict', 'invalid_code', 'share_exhausted'],
  },
  'GET /deployments': {
    id: 'listDeployments',
    summary: 'List deployments, the newest first',
    answer: 'DeploymentPage',
    query: {
      ...byTime('made'),
    },
  },
  'GET /deployments/{id}': {
    id: 'getDeployment',
    summary: 'Get a deployment with what it changed',
    answer: 'DeploymentDetails',
  },
  'POST /deployments/{id}/rollback': {
    id: 'rollBackToDeployment',
    summary: 'Put in force what a deployment had put in force',
    description:
      'The id names the deployment to return to. It is a new deployment, in force when answered: code, ' +
      'definitions and configuration values are those of then, what files have put there since is ' +
      'deleted, and what they have pruned since comes back under its id.',
    answer: 'Deployed',
    body: { message: 'Back to before the retries' },
    errors: ['conflict', 'deployment_conflict', 'invalid_code', 'share_exhausted'],
  },
};
