import { callOutcomes } from '@glovebox/calls';
import { summaryEntriesMax } from '../calls/calls.service';
import { summaryHoursMax } from '../calls/calls.dto';
import { overviewHours, overviewResourcesMax } from '../overview/overview.dto';
import { byTime } from './list-queries';
import type { OperationText } from './operation-text';
import { instant, oneOf, text, uuid, whole } from './schema';

const ofResource = {
  proxy_id: { description: 'Only calls through this proxy.', schema: uuid },
  reactor_id: { description: 'Only calls of this reactor.', schema: uuid },
};
const outcome = { description: 'Only calls with this outcome.', schema: oneOf(callOutcomes) };

export const callOperations: Readonly<Record<string, OperationText>> = {
  'GET /overview': {
    id: 'getOverview',
    summary: 'Get what happened lately, what waits, and the state of the processes',
    description:
      `At most ${overviewResourcesMax} resources are shown, those with the most failures first, then those ` +
      'with the most calls: `truncated: true` says that there are others. `totals` and `series` have all ' +
      'calls. Counts are up to 10 seconds old, and those that took long to add up are shown for a while.',
    answer: 'Overview',
    query: {
      hours: {
        description: 'The length of the time that is counted.',
        schema: { ...oneOf(overviewHours), default: '1' },
      },
    },
  },
  'GET /calls': {
    id: 'listCalls',
    summary: 'List calls, those that ended last first',
    description:
      'Calls of `/proxy`, of reactors and of all other operations with a valid key. In each second and ' +
      'process, 200 calls that did not complete and 50 that did have an entry each. Further ones share ' +
      'entries: one with `sampled: true` stands for `count` calls that are alike.',
    answer: 'CallPage',
    query: {
      ...byTime('ended'),
      ...ofResource,
      outcome: {
        description: 'Only calls with this outcome. Repeat it for several.',
        schema: oneOf(callOutcomes),
        many: callOutcomes.length,
      },
      code: { description: 'Only calls that failed with this code.', schema: text },
      application_id: { description: 'Only calls of this application.', schema: uuid },
      status: {
        description: 'Only calls that were answered with this status.',
        schema: { ...whole, minimum: 100, maximum: 599 },
      },
      trace_id: { description: 'Only calls with this trace id.', schema: text },
    },
  },
  'GET /calls/{id}': {
    id: 'getCall',
    summary: 'Get a call',
    answer: 'Call',
  },
  'GET /calls/summary': {
    id: 'summarizeCalls',
    summary: 'Count calls by minute, resource and outcome',
    description:
      'Exact: every call is counted, also one without an entry of its own in the list. The newest ' +
      `minute comes first. At most ${summaryEntriesMax} entries are shown: \`truncated: true\` says that ` +
      'older minutes are left out. A call is counted up to 10 seconds after its end.',
    answer: 'CallSummary',
    query: {
      from: {
        description: `The first minute. An hour before \`to\` by default, ${summaryHoursMax} hours at most.`,
        schema: instant,
      },
      to: { description: 'The last minute. Now by default.', schema: instant },
      ...ofResource,
      outcome,
      resource: {
        description: 'Only calls of this path, such as `/proxy` or `/tokens/{id}`.',
        schema: text,
      },
    },
  },
};
