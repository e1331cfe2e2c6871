import { deliveryStatuses, runKinds, runStatuses } from '@glovebox/runs';
import { byTime } from './list-queries';
import type { OperationText } from './operation-text';
import { oneOf, text, uuid } from './schema';

const part = byTime('accepted');
const ofResource = {
  ...part,
  status: { description: 'Only runs with this status.', schema: oneOf(runStatuses) },
  kind: { description: 'Only runs of this kind.', schema: oneOf(runKinds) },
  trace_id: { description: 'Only runs of this call.', schema: text },
};

export const runOperations: Readonly<Record<string, OperationText>> = {
  'GET /runs': {
    id: 'listRuns',
    summary: 'List runs, the newest first',
    answer: 'RunPage',
    query: {
      ...ofResource,
      resource_id: { description: 'Only runs of this reactor or proxy.', schema: uuid },
    },
  },
  'GET /runs/{id}': {
    id: 'getRun',
    summary: 'Get a run with its output, and the attempts of its webhook',
    description: 'As long as it is kept, also when its reactor or proxy is deleted.',
    answer: 'RunDetails',
  },
  'POST /runs/{id}/rerun': {
    id: 'rerunRun',
    summary: 'Repeat a failed run in the background',
    description:
      'A new run with the arguments of then, the code of now and the rights of the caller. ' +
      'Arguments are kept until `arguments_kept_until`; 410 after it. Without `callback` nobody is ' +
      'sent the result, and it is not kept.',
    answer: 'Rerun',
    body: { callback: true },
    errors: ['conflict', 'data_gone', 'unknown_token'],
  },
  'GET /reactors/{id}/runs': {
    id: 'listReactorRuns',
    summary: 'List the runs of a reactor, the newest first',
    answer: 'RunPage',
    query: ofResource,
  },
  'GET /reactors/{id}/runs/{run_id}': {
    id: 'getReactorRun',
    summary: 'Get a run with its output, and the attempts of its webhook',
    answer: 'RunDetails',
  },
  'GET /reactors/{id}/results/{request_id}': {
    id: 'getReactorResult',
    summary: 'Get the result of an async run',
    description:
      'Only the application that started the run finds it, until 24 hours after its end. ' +
      '`request_id` is the `async_request_id`. To read it is to use its data, and decided anew.',
    answer: 'RunResult',
    errors: ['data_gone'],
  },
  'GET /proxies/{id}/runs': {
    id: 'listProxyRuns',
    summary: 'List the runs of the transforms of a proxy, the newest first',
    answer: 'RunPage',
    query: ofResource,
  },
  'GET /proxies/{id}/runs/{run_id}': {
    id: 'getProxyRun',
    summary: 'Get a run of a transform with its output',
    answer: 'RunDetails',
  },
  'GET /webhook-deliveries': {
    id: 'listWebhookDeliveries',
    summary: 'List webhooks, the newest first',
    answer: 'WebhookDeliveryPage',
    query: {
      ...part,
      status: { description: 'Only webhooks with this status.', schema: oneOf(deliveryStatuses) },
      reactor_id: { description: 'Only webhooks of this reactor.', schema: uuid },
      host: { description: 'Only webhooks to this host, without a port.', schema: text },
      trace_id: { description: 'Only webhooks of runs of this call.', schema: text },
    },
  },
  'GET /webhook-deliveries/{id}': {
    id: 'getWebhookDelivery',
    summary: 'Get a webhook with its attempts',
    answer: 'WebhookDelivery',
  },
  'POST /webhook-deliveries/{id}/replay': {
    id: 'replayWebhookDelivery',
    summary: 'Send a webhook again, with the same `webhook-id`',
    description:
      'A webhook that waits for its next attempt is sent now. One that is under way, or whose body ' +
      'was erased, is a conflict.',
    answer: 'Replayed',
    errors: ['conflict'],
  },
  'POST /webhook-deliveries/replay': {
    id: 'replayWebhookDeliveries',
    summary: 'Send ended webhooks again, the newest first',
    description:
      'Takes the newest `limit` webhooks that match, 1,000 by default. `queued` leaves out those ' +
      'whose body was erased, and those whose data could not be opened now, which `gone` counts. With ' +
      '`dry_run`, nothing is sent or recorded.',
    answer: 'Replayed',
    otherwise: {
      status: 200,
      description: 'The number that would be sent again: with `dry_run`',
      answer: 'ReplayCount',
    },
    body: { filter: { status: 'failed', host: 'shop.example' }, limit: 100 },
  },
};
