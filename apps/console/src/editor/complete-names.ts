import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';

/** What code may name: dotted paths with what stands behind each (docs/guide). */
export type KnownNames = Readonly<Record<string, string>>;

const svc: KnownNames = {
  'svc.tokenize': '(value): POST /tokenize',
  'svc.detokenize': '(value): POST /detokenize',
  'svc.tokens.create': '(token): POST /tokens',
  'svc.tokens.retrieve': '(id): GET /tokens/{id}',
  'svc.tokens.list': '({ id, type, metadata, page, size, after })',
  'svc.tokens.update': '(id, patch)',
  'svc.tokens.delete': '(id)',
};

const configurationNames = (names: readonly string[]): KnownNames =>
  Object.fromEntries(names.map((name) => [`configuration.${name}`, 'text of the configuration']));

export const namesOfReactor = (
  parameters: readonly { name: string; type: string }[],
  configuration: readonly string[],
): KnownNames => ({
  ...Object.fromEntries(parameters.map(({ name, type }) => [`args.${name}`, type])),
  ...configurationNames(configuration),
  ...svc,
});

export const namesOfTransform = (
  side: 'request' | 'response',
  configuration: readonly string[],
): KnownNames => ({
  'args.body': 'the parsed body',
  'args.raw_body': 'its text as it came',
  'args.headers': 'names in any spelling',
  ...(side === 'request'
    ? { 'args.method': 'text', 'args.path': 'behind /proxy', 'args.query': 'with its ?' }
    : { 'args.status': 'number' }),
  ...configurationNames(configuration),
  ...svc,
});

/** Completes `args.`, `configuration.` and `svc.`, also behind `req.` */
export function completeNames(
  context: CompletionContext,
  names: KnownNames,
): CompletionResult | null {
  const typed = context.matchBefore(/[\w$]+(\.[\w$]*)*/);
  if (typed === null && !context.explicit) return null;
  const whole = typed?.text ?? '';
  const path = whole.replace(/^req\./, '');
  const parents = path.slice(0, path.lastIndexOf('.') + 1);
  const options = nextNames(names, parents);
  if (options.length === 0) return null;
  const from = context.pos - (path.length - parents.length);
  return { from, options, validFor: /^[\w$]*$/ };
}

function nextNames(names: KnownNames, parents: string): Completion[] {
  const next = new Map<string, string | undefined>();
  for (const [path, detail] of Object.entries(names)) {
    if (!path.startsWith(parents)) continue;
    const [name = '', ...rest] = path.slice(parents.length).split('.');
    if (!next.has(name)) next.set(name, rest.length === 0 ? detail : undefined);
  }
  return [...next].map(([label, detail]) => ({
    label,
    type: 'property',
    ...(detail === undefined ? {} : { detail }),
  }));
}
