import {
  stepExpressionMax,
  stepNameMax,
  stepPathMax,
  stepsMax,
  stepValueMax,
} from '../proxies/transform-steps';
import { flag, instant, json, object, oneOf, ref, text, type Schema, type Schemas } from './schema';
import { tokenMembers } from './token-members';

const atMost = (max: number): Schema => ({ ...text, maxLength: max });

const path = {
  ...atMost(stepPathMax),
  description: 'JSONPath: $.card.number, $.items[*].card, $..number',
};
const value = atMost(stepValueMax);

const { type, ...withoutType } = tokenMembers;

const token = object(
  { type },
  {
    ...withoutType,
    mask: json,
    deduplicate_token: flag,
    expires_at: instant,
  },
);

const required = {
  ...flag,
  description: 'true: the call ends with 400, or 502 for an answer, where the path matches nothing',
};
const requiredBeside = { ...flag, description: 'Counts as `required` in `options`' };

const step = (type: string, options: Schema): Schema => {
  const hasPath = Object.hasOwn(options.properties as Schemas, 'path');
  return object({ type: oneOf([type]), options }, hasPath ? { required: requiredBeside } : {});
};

const at = (location: 'body' | 'header' | 'query', more: Schemas): Schema =>
  location === 'body'
    ? object({ location: oneOf([location]), path, ...more }, { required })
    : object({ location: oneOf([location]), name: atMost(stepNameMax), ...more });

const forBoth = [
  step('mask', object({ path, expression: atMost(stepExpressionMax) }, { required })),
  step('tokenize', object({ path, token }, { required })),
  step('append', at('header', { value })),
  step('append', at('body', { value: json })),
  step('remove', at('header', {})),
  step('remove', at('body', {})),
];

const requestStep: Schema = {
  oneOf: [
    ...forBoth,
    step('detokenize', object({ path, enabled: { type: 'boolean', enum: [false] } }, { required })),
    step('append', at('query', { value })),
    step('remove', at('query', {})),
  ],
};

/** Stands in the place of a value that is stored already (docs/adr/0106, 0133). */
const kept = { value_set: { type: 'boolean', enum: [true] } };
const keepsForBoth = [step('append', at('header', kept)), step('append', at('body', kept))];

export const stepSchemas: Schemas = {
  RequestStep: requestStep,
  ResponseStep: { oneOf: forBoth },
  KeepableRequestStep: {
    oneOf: [ref('RequestStep'), ...keepsForBoth, step('append', at('query', kept))],
  },
  KeepableResponseStep: { oneOf: [ref('ResponseStep'), ...keepsForBoth] },
};

const steps = (name: keyof typeof stepSchemas, description: string): Schema => ({
  type: 'array',
  maxItems: stepsMax,
  description,
  items: ref(name),
});

const ofRequest =
  'Changes of the request without code. They run in order, before the request transform.';
const ofResponse =
  'Changes of the answer without code. They run in order, after the response transform.';

export const requestSteps = steps('RequestStep', ofRequest);
export const responseSteps = steps('ResponseStep', ofResponse);

/** The steps of a document that may leave stored values where they are. */
export const keepableSteps: Schemas = {
  request_transforms: steps('KeepableRequestStep', ofRequest),
  response_transforms: steps('KeepableResponseStep', ofResponse),
};
