import { roles } from '@glovebox/access';
import { pageEntriesMax } from './answer-bounds';
import { byTime } from './list-queries';
import type { OperationText } from './operation-text';
import { instant, listOf, object, oneOf, ref, text, uuid, type Schemas } from './schema';

export const peopleOperations: Readonly<Record<string, OperationText>> = {
  'GET /sessions': {
    id: 'listSessions',
    summary: 'List the sessions of the console, the newest first',
    description: 'Of people, admins alone see them.',
    answer: 'SessionPage',
    query: {
      ...byTime('opened'),
      person_id: { description: 'Only sessions of this person.', schema: uuid },
    },
  },
  'DELETE /sessions/{id}': {
    id: 'endSession',
    summary: 'End a session of the console',
    description: 'It is dead at once in every process. The person may sign in again.',
  },
  'DELETE /people/{id}/sessions': {
    id: 'endSessionsOfPerson',
    summary: 'End all sessions of a person, and sign-ins that are under way',
    description: 'They are dead at once in every process. The person may sign in again.',
  },
};

const session = {
  id: '019b7a3e-52c0-7c1a-9f3b-2d4e5f607182',
  person: {
    id: 'c9a1b7c2-3f4e-4e0b-8f61-2f9f6a7c5d11',
    name: 'operator',
    role: 'admin',
    issuer: 'link',
    subject: 'operator',
  },
  created_at: '2026-01-31T12:00:00.000Z',
  seen_at: '2026-01-31T12:07:00.000Z',
};

export const peopleAnswers: Schemas = {
  Session: {
    ...object(
      {
        id: uuid,
        person: object({
          id: uuid,
          name: text,
          role: oneOf(roles),
          issuer: { ...text, description: '`link`, or the OpenID provider.' },
          subject: { ...text, description: 'The person there.' },
        }),
        created_at: instant,
        seen_at: { ...instant, description: 'The last request, within a minute.' },
      },
      { machine: { ...text, description: 'That of a command line. Absent: a page.' } },
    ),
    example: session,
  },
  SessionPage: {
    ...object({
      pagination: ref('CursorPagination'),
      data: listOf(ref('Session'), pageEntriesMax),
    }),
    example: { pagination: { page_size: 20 }, data: [session] },
  },
};
