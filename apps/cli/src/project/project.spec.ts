import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthorsFolder } from '../run/spec-lender';
import { itemOf } from './items';
import { readResource } from './project';

let folder: AuthorsFolder;
beforeEach(() => (folder = new AuthorsFolder()));
afterEach(() => folder.remove());

function write(name: string, text: string): void {
  const file = join(folder.path, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

/** What a deployment would send of the proxy. */
const sentOf = async (slug: string, env: Readonly<Record<string, string>>): Promise<unknown> =>
  (await itemOf(folder.path, readResource(folder.path, slug), env)).item;

describe('values of the environment', () => {
  const places = (value: string): readonly (readonly [place: string, text: string])[] => [
    ['3:3', `configuration:\n  KEY: ${value}\n`],
    [
      '3:63',
      `request_transforms:\n  - { type: append, options: { location: header, name: X-Key, value: ${value} } }\n`,
    ],
    ['2:39', `client_certificate: { certificate: c, private_key: ${value} }\n`],
  ];

  it.each(['GLOVEBOX_KEY', 'GLOVEBOX_PRIVATE_KEY', 'GLOVEBOX_WEBHOOK_SECRET'])(
    'are never %s, wherever a file names it',
    async (name) => {
      for (const [place, text] of places(`!env ${name}`)) {
        write('proxies/bank/proxy.yaml', `destination_url: https://bank.example\n${text}`);
        await expect(sentOf('bank', { [name]: 'key_of_ada' })).rejects.toMatchObject({
          exit: 'usage',
          message: expect.stringContaining(`proxies/bank/proxy.yaml:${place}: ${name} is for`),
        });
      }
    },
  );
});
