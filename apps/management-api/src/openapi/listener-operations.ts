import { leaseOfListenerMs, partMax, unheardMax } from '@glovebox/runs';
import { waitSecondsMax } from '../listeners/listeners.dto';
import { listenersMax } from '../listeners/listeners.service';
import type { OperationText } from './operation-text';
import { instant, listOf, object, oneOf, text, uuid, whole, type Schemas } from './schema';

const listenerId = '019b7a3e-52c0-7c1a-9f3b-2d4e5f607182';
const runId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const reactorId = '6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10';

export const listenerAnswers: Schemas = {
  WebhookListener: {
    ...object(
      {
        id: uuid,
        after: { ...text, description: 'The cursor of the first reading.' },
        lease_seconds: {
          ...whole,
          description: 'How long the listener lasts from each reading on.',
        },
      },
      { reactor_id: { ...uuid, description: 'It gets webhooks of this reactor alone.' } },
    ),
    example: { id: listenerId, after: '0', lease_seconds: leaseOfListenerMs / 1_000 },
  },
  WebhookCopies: {
    ...object({
      after: { ...text, description: 'The cursor of the next reading: it confirms these copies.' },
      data: {
        ...listOf(
          object(
            { id: uuid, webhook_id: text, created_at: instant },
            {
              reactor_id: uuid,
              headers: {
                ...object({
                  'content-type': { ...text, description: 'JSON.' },
                  'webhook-id': { ...text, description: 'The same in every attempt.' },
                  'webhook-timestamp': { ...text, description: 'Seconds since 1970.' },
                  'webhook-signature': { ...text, description: 'One for each valid secret.' },
                }),
                description: 'Those of Standard Webhooks, signed anew for each reading.',
              },
              body: { ...text, description: 'The same bytes as in the original.' },
              withheld: {
                ...oneOf(['gone', 'refused']),
                description:
                  'Why there is no body: the data of a token in it is gone, or whoever opened it may ' +
                  'not open it now.',
              },
            },
          ),
          partMax,
        ),
        description: 'The copies, in their order.',
      },
    }),
    example: {
      after: '1',
      data: [
        {
          ...{ id: runId, webhook_id: `msg_${runId}`, reactor_id: reactorId },
          created_at: '2026-01-31T12:00:00.000Z',
          headers: {
            'content-type': 'application/json',
            'webhook-id': `msg_${runId}`,
            'webhook-timestamp': '1767225600',
            'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
          },
          body: '{"raw":{"last4":"4242"}}',
        },
      ],
    },
  },
};

const needsReveal =
  'Needs a rule on `/` with `log:read` and the transform `reveal`: webhooks show data. ';

export const listenerOperations: Readonly<Record<string, OperationText>> = {
  'POST /webhook-listeners': {
    id: 'startWebhookListener',
    summary: 'Get copies of the webhooks that are made from now on',
    description:
      `${needsReveal}The originals go to their receivers. A tenant has at most ${listenersMax} ` +
      `listeners at the same time. One ends ${leaseOfListenerMs / 1_000} s after its last reading.`,
    answer: 'WebhookListener',
    body: { reactor_id: reactorId },
  },
  'GET /webhook-listeners/{id}/webhooks': {
    id: 'listenToWebhooks',
    summary: 'Wait for webhooks, and get copies of them',
    description:
      `${needsReveal}Answers as soon as there is one, with at most ${partMax}, and renews the lease. The same ` +
      '`after` gives the same copies again. 404 where the lease is over, or where more than ' +
      `${unheardMax.toLocaleString('en')} webhooks wait for the listener: begin a new one. Each copy is a line of the ` +
      'audit log.',
    answer: 'WebhookCopies',
    query: {
      after: {
        description: 'The cursor of the answer before. It confirms the copies of that answer.',
        schema: { ...text, maxLength: 15 },
      },
      wait: {
        description: 'How many seconds to wait for a webhook.',
        schema: { ...whole, minimum: 0, maximum: waitSecondsMax, default: waitSecondsMax },
      },
      copies: {
        description:
          '`none`: renews the lease at once, and gives no copies. For whoever is busy with those of the ' +
          'answer before.',
        schema: oneOf(['none']),
      },
    },
  },
  'DELETE /webhook-listeners/{id}': {
    id: 'endWebhookListener',
    summary: 'End a listener to webhooks',
  },
};
