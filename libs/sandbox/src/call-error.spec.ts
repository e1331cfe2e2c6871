import { describeCallError, parseCallError } from './call-error';

it.each([
  ['an internal error', new Error('connect ECONNREFUSED 10.0.0.7:5432')],
  ['an error with a code', Object.assign(new Error('secret'), { code: '23505', data: 'row' })],
  ['an error whose status is text', Object.assign(new Error('secret'), { status: '404' })],
  ['a text', 'secret'],
  ['nothing', undefined],
  ['null', null],
])('%s is not shown to the code that made the call', (_, thrown) => {
  expect(describeCallError(thrown)).toEqual({ message: 'The call failed.', status: 500 });
});

it('an error with a status was made for the caller and reaches it whole', () => {
  const told = { message: 'Forbidden', code: 'forbidden', status: 403, data: { title: 'no' } };
  expect(describeCallError({ ...told, stack: 'x', secret: 'y' })).toEqual(told);
  expect(parseCallError(describeCallError(Object.assign(new Error(), told)))).toMatchObject(told);
});
