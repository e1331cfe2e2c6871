import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { completeNames, namesOfReactor, namesOfTransform } from './complete-names';

const offered = (code: string, names = namesOfTransform('request', ['api_key'])) =>
  completeNames(
    new CompletionContext(EditorState.create({ doc: code }), code.length, false),
    names,
  )?.options.map(({ label }) => label) ?? [];

it('a transform of a request is offered what it gets', () => {
  expect(offered('args.')).toEqual(['body', 'raw_body', 'headers', 'method', 'path', 'query']);
  expect(offered('return req.args.he')).toContain('headers');
  expect(offered('args.', namesOfTransform('response', []))).toContain('status');
  expect(offered('req.')).toEqual(['args', 'configuration', 'svc']);
});

it('declared names of the configuration and of the arguments are offered', () => {
  expect(offered('configuration.')).toEqual(['api_key']);
  const names = namesOfReactor([{ name: 'card.number', type: 'string' }], []);
  expect(offered('args.', names)).toEqual(['card']);
  expect(offered('args.card.', names)).toEqual(['number']);
});

it('the calls of the vault are offered, and nothing behind what is unknown', () => {
  expect(offered('await svc.tokens.')).toEqual(['create', 'retrieve', 'list', 'update', 'delete']);
  expect(offered('other.thing.')).toEqual([]);
});
