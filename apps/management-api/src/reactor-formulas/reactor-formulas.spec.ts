import { randomUUID } from 'node:crypto';
import { shippedPackages } from '@glovebox/sandbox';
import { useTestApi } from '../spec-api';
const api = useTestApi();

const text = expect.any(String) as string;
const input = { name: 'Charge', code: 'module.exports = async (req) => ({ raw: req.args });' };

describe('POST /reactor-formulas', () => {
  it('answers 201 with the defaults', async () => {
    const created = await api.post('/reactor-formulas', {
      ...input,
      unknown: 1,
      description: null,
    });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: text,
      tenant_id: api.tenant.tenant_id,
      type: 'private',
      ...input,
      configuration: [],
      request_parameters: [],
      runtime: 'node16',
      runtime_end_of_life: '2023-09-11',
      created_by: text,
      created_at: text,
    });
  });

  it('keeps every member', async () => {
    const whole = {
      ...input,
      type: 'private',
      description: 'Charges a card',
      icon: 'data:image/png;base64,AA==',
      runtime: 'node20',
      configuration: [{ name: 'API_KEY', description: 'of the bank', type: 'string' }],
      request_parameters: [
        {
          name: 'user.first_name',
          description: '',
          type: 'string',
          optional: false,
          loggable: false,
        },
        { name: 'amount', type: 'number', optional: true, loggable: true },
      ],
    };
    expect((await api.post('/reactor-formulas', whole)).body).toMatchObject(whole);
  });

  it.each([
    [{ name: 'x' }, { code: ['is required'] }],
    [{ ...input, code: 'x'.repeat(50_001) }, { code: ['must be at most 50000 characters'] }],
    [{ ...input, type: 'official' }, { type: ['must be private'] }],
    [{ ...input, description: 'd'.repeat(1_001) }, { description: [text] }],
    [{ ...input, runtime: 'node18' }, { runtime: ['must be node16, node20, node22 or node24'] }],
    [
      { ...input, configuration: [{ name: 'a b', type: 'string' }] },
      { 'configuration.0.name': [text] },
    ],
    [
      { ...input, configuration: [{ name: 'a', type: 'object' }] },
      { 'configuration.0.type': [text] },
    ],
    [
      {
        ...input,
        configuration: [
          { name: 'a', type: 'string' },
          { name: 'a', type: 'number' },
        ],
      },
      { 'configuration.1.name': ['is there twice'] },
    ],
    [
      { ...input, request_parameters: [{ name: 'a.__proto__', type: 'string' }] },
      { 'request_parameters.0.name': ['is a reserved name'] },
    ],
    [
      { ...input, request_parameters: [{ name: 'a..b', type: 'string' }] },
      { 'request_parameters.0.name': [text] },
    ],
    [
      { ...input, request_parameters: [{ name: 'a', type: 'string', optional: 'true' }] },
      { 'request_parameters.0.optional': ['must be true or false'] },
    ],
    [
      { ...input, request_parameters: [{ name: 'a', type: 'string', loggable: 'true' }] },
      { 'request_parameters.0.loggable': ['must be true or false'] },
    ],
    [
      { ...input, request_parameters: Array(26).fill({ name: 'a', type: 'string' }) },
      { request_parameters: ['must have at most 25 entries'] },
    ],
  ])('refuses %j with 400', async (body, errors) => {
    const refused = await api.post('/reactor-formulas', body);
    expect(refused.status).toBe(400);
    expect((refused.body as { errors: object }).errors).toEqual(errors);
  });

  it.each([
    ['module.exports = async (req) => {', /^line 1: Unexpected/],
    ["module.exports = () => require('fs')", /^Module 'fs' is not available$/],
    ["module.exports = () => require('left-pad')", /^Module 'left-pad' is not available$/],
    ["const f = require('node-fetch/lib'); module.exports = f", /^Module 'node-fetch\/lib' is not/],
  ])('refuses the code %s with 422', async (code, message) => {
    const refused = await api.post('/reactor-formulas', { ...input, code });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      code: 'invalid_code',
      errors: { code: [expect.stringMatching(message)] },
    });
  });

  it('accepts code that requires packages that the runner has', async () => {
    const code = shippedPackages.map((name) => `require('${name}');`).join('');
    const created = await api.post('/reactor-formulas', {
      ...input,
      code: `${code} module.exports = () => ({})`,
    });
    expect(created.status).toBe(201);
  });

  it('compiles the code and never runs it', async () => {
    const code = 'globalThis.ranInTheApi = true; process.exit(1); module.exports = () => ({})';
    expect((await api.post('/reactor-formulas', { ...input, code })).status).toBe(201);
    expect('ranInTheApi' in globalThis).toBe(false);
  });

  it('answers 401 and 403', async () => {
    expect((await api.post('/reactor-formulas', input, 'nobody')).status).toBe(401);
    expect((await api.post('/reactor-formulas', input, api.tenant.private_key)).status).toBe(403);
  });
});

describe('GET /reactor-formulas/{id}', () => {
  it('answers 200, and 404 to another tenant', async () => {
    const made = (await api.post('/reactor-formulas', input)).body as Record<string, string>;
    const found = await api.get(`/reactor-formulas/${made.id}`);
    expect(found.status).toBe(200);
    expect(found.body).toEqual({
      ...made,
      modified_by: made.created_by,
      modified_at: made.created_at,
    });
    const foreign = await api.get(`/reactor-formulas/${made.id}`, api.foreign.management_key);
    expect(foreign.status).toBe(404);
  });

  it('answers 401, 403 and 404', async () => {
    const path = `/reactor-formulas/${randomUUID()}`;
    expect((await api.get(path, 'nobody')).status).toBe(401);
    expect((await api.get(path, api.tenant.private_key)).status).toBe(403);
    expect((await api.get(path)).status).toBe(404);
    expect((await api.get('/reactor-formulas/1')).status).toBe(404);
  });
});
