import { bundleMax } from '../code/code-members';
import { mapBytesMax } from '../code/bundles.service';
import type { OperationText } from './operation-text';
import { instant, object, text, type Schemas } from './schema';

const sha256 = 'c77a0b37e58dd2ec1e54ff6b4c9d0e3b81a2f5d6e7c8091a2b3c4d5e6f708192';
const code = 'module.exports = async (req) => ({ raw: {} });';
const map = '{"version":3,"sources":["reactors/charge/code.ts"],"names":[],"mappings":"AAAA"}';

/** The service checks their bytes. */
export const uploadMembers: Readonly<Record<string, Schemas>> = {
  UploadCode: { code: { ...text, minLength: 1, maxLength: bundleMax } },
  UploadMap: { map: { ...text, minLength: 1, maxLength: mapBytesMax } },
};

export const codeAnswers: Schemas = {
  UploadedCode: {
    ...object({ sha256: text, held_until: instant }),
    example: { sha256, held_until: '2026-01-31T13:00:00.000Z' },
  },
  UploadedMap: { ...object({ sha256: text }), example: { sha256 } },
  CodeText: { ...object({ sha256: text, code: text }), example: { sha256, code } },
};

export const codeOperations: Readonly<Record<string, OperationText>> = {
  'PUT /code/{sha256}': {
    id: 'uploadCode',
    summary: 'Upload code that is too large for a resource',
    description:
      'The path is the SHA-256 of the text, which is compiled and not run. A formula, a transform or an ' +
      'item of a deployment then names it by `code_sha256`. It stays for an hour without a resource ' +
      'that names it. At most 500 texts, with 64 MiB, may wait so.',
    answer: 'UploadedCode',
    body: { code },
    errors: ['conflict', 'invalid_code'],
  },
  'PUT /code/{sha256}/map': {
    id: 'uploadSourceMap',
    summary: 'Upload the source map of an uploaded text',
    description:
      'Runs and dry runs of the text then show positions of its sources. Only the API reads it.',
    answer: 'UploadedMap',
    body: { map },
    errors: ['conflict'],
  },
  'GET /code/{sha256}': {
    id: 'getCode',
    summary: 'Get a text of code that is kept, by its SHA-256',
    answer: 'CodeText',
  },
};
