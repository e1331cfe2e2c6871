import { Length } from 'class-validator';
import type { Response } from 'supertest';
import { controllers } from '../app.module';
import { Conformance } from './spec-conform';
import { openApiDocument } from './document';
import { RequestSchemas } from './request-schemas';
import type { Schema } from './schema';

const document = openApiDocument(controllers);
const conformance = new Conformance(document);
const path = '/reactor-formulas/b1d7f0e4-7c39-4f0a-8a55-7d0c9b0a3e42';
const formula = document.components.schemas?.ReactorFormula?.example as Schema;

const check =
  (status: number, body: unknown, where = path, method = 'GET') =>
  () => {
    const text = body === undefined ? '' : JSON.stringify(body);
    conformance.check({ req: { method, path: where }, status, body, text } as unknown as Response);
  };

describe('the check of answers', () => {
  it('accepts a declared answer under any spelling of the path', () => {
    for (const where of [path, `${path}/`, `${path}?x=1`]) {
      expect(check(200, formula, where)).not.toThrow();
    }
    const problem = { title: 'Not found.', status: 404, code: 'not_found' };
    expect(check(404, problem)).not.toThrow();
    expect(check(204, undefined, path, 'DELETE')).not.toThrow();
  });

  it.each([
    [200, { ...formula, secret: 1 }, 'must NOT have additional properties secret'],
    [200, { ...formula, modified_at: undefined }, "must have required property 'modified_at'"],
    [200, { ...formula, name: 1 }, '/name must be string'],
    [200, { ...formula, id: 'x' }, '/id must match format "uuid"'],
    [200, { ...formula, configuration: [{}] }, "must have required property 'name'"],
    [404, { title: 'Not found.', status: 404 }, "must have required property 'code'"],
    [404, { title: 'Gone.', status: 404, code: 'data_gone' }, 'data_gone is not declared'],
    [418, {}, 'is not declared'],
  ])('refuses an undeclared answer: %d %#', (status, body, message) => {
    expect(check(status, JSON.parse(JSON.stringify(body)))).toThrow(message);
  });

  it('refuses a body where none is declared', () => {
    expect(check(204, {}, path, 'DELETE')).toThrow('declares no body');
  });
});

describe('the schema of a body', () => {
  const schemas = document.components.schemas ?? {};

  it('has the limits of the decorators', () => {
    expect(schemas.FormulaInput).toMatchObject({
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 200 },
        code: { maxLength: 50_000 },
        configuration: { type: 'array', maxItems: 25 },
        runtime: { enum: ['node16', 'node20', 'node22', 'node24'] },
      },
    });
  });

  it('requires nothing for a PATCH, and accepts null for optional members', () => {
    const { FormulaInputPatch: patch = {} } = schemas;
    expect(patch).not.toHaveProperty('required');
    expect(conformance.faults(patch, { icon: null, configuration: null })).toBeUndefined();
    expect(conformance.faults(patch, { name: null })).toBe('/name must be string');
  });

  it('cannot be read off a rule without a keyword', () => {
    class Input {
      @Length(1, 2)
      name!: string;
    }
    const add = () => new RequestSchemas().add(Input);
    expect(add).toThrow('Input: no keyword of a schema for the rule isLength');
  });
});
