import { Problem } from '@glovebox/problems';
import { describeError } from './logger';

it('an error is logged by its type, code and place alone, and so is its cause', () => {
  const driver = Object.assign(new Error('duplicate key value (number)=(4111111111111111)'), {
    code: '23505',
  });
  const described = describeError(new Problem('internal_error', { cause: driver }));
  expect(described).toMatchObject({ type: 'Problem', cause: { type: 'Error', code: '23505' } });
  expect(JSON.stringify(described)).not.toContain('4111');
  expect(JSON.stringify(described)).toContain('logger.spec.ts');
});
