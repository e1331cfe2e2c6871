import { useTestApi } from '../spec-api';
import { toEndOfLife } from './code-members';

describe('the end of life of a runtime', () => {
  it.each([
    ['node16', '2023-09-11', '2023-09-12'],
    ['node20', '2026-04-30', '2026-05-01'],
    ['node22', '2027-04-30', '2027-05-01'],
    ['node24', '2028-04-30', '2028-05-01'],
  ] as const)('%s is in answers after its last day, %s', (runtime, lastDay, dayAfter) => {
    expect(toEndOfLife(runtime, new Date(`${lastDay}T23:59:59.999Z`))).toEqual({});
    expect(toEndOfLife(runtime, new Date(`${dayAfter}T00:00:00.000Z`))).toEqual({
      runtime_end_of_life: lastDay,
    });
  });

  it('is that of the default where no runtime was chosen', () => {
    expect(toEndOfLife()).toEqual({ runtime_end_of_life: '2023-09-11' });
  });
});

describe('answers about code that runs on node16', () => {
  const api = useTestApi();
  const code = 'module.exports = () => ({})';
  const ended = { runtime_end_of_life: '2023-09-11' };
  const transformed = { name: 'p', destination_url: 'https://a.example' };

  it('show its end of life in formulas, and in the reactors that use them', async () => {
    const formula = await api.made('/reactor-formulas', { name: 'f', code, runtime: 'node16' });
    expect(formula).toMatchObject(ended);
    expect((await api.get(`/reactor-formulas/${formula.id}`)).body).toMatchObject(ended);
    const reactor = { name: 'r', configuration: {}, formula };
    expect(await api.made('/reactors', reactor)).toMatchObject({ formula: ended });
  });

  it.each([{ code }, { code, runtime: 'node16' }])(
    'show its end of life in transforms, which may be sent back: %j',
    async (request_transform) => {
      const shown = { ...transformed, request_transform: { ...request_transform, ...ended } };
      const { id } = await api.made('/proxies', { ...transformed, request_transform });
      const { body } = await api.get(`/proxies/${id}`);
      expect(body).toMatchObject(shown);
      const put = await api.put(`/proxies/${id}`, body);
      expect([put.status, put.body]).toEqual([200, expect.objectContaining(shown)]);
      expect((await api.patch(`/proxies/${id}`, body)).status).toBe(204);
    },
  );

  it('show none for node24, also where the caller sends one', async () => {
    const formula = { name: 'f', code, runtime: 'node24' };
    const made = await api.made('/reactor-formulas', { ...formula, ...ended });
    expect(made).toMatchObject(formula);
    expect(made).not.toHaveProperty('runtime_end_of_life');
  });
});
