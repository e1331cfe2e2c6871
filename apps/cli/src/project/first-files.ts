/** The declarations of @glovebox/reactor-types. The build puts them in. */
declare const builtReactorTypes: Readonly<Record<string, string>>;

/** The files of `glovebox init`. */
export const firstFilesOf = (project: string): Readonly<Record<string, string>> => ({
  'glovebox.yaml': `# glovebox push deploys what is in this folder.
version: 1
# Folders with other names may deploy to the same tenant. None of them prunes what is another's.
project: ${project}
`,
  '.gitignore': `node_modules/
.glovebox/
secrets/
`,
  'reactors/hello/reactor.yaml': `name: Hello
runtime: node24
description: Greets, and shows no more than the end of a card.
request_parameters:
  - { name: name, type: string }
  - { name: card.number, type: string, optional: true }
`,
  'reactors/hello/code.ts': `import type { Reactor } from '@glovebox/reactor-types';
import { BadRequestError } from '@svc/reactor-errors';

interface Arguments {
  readonly name: string;
  readonly card?: { readonly number: string };
}

const hello: Reactor<Arguments> = ({ args }) => {
  if (args.name === '') throw new BadRequestError({ name: 'must not be empty' });
  console.log('greeting', args.name.length, 'letters');
  const last4 = args.card?.number.slice(-4);
  return { raw: { hello: args.name, ...(last4 === undefined ? {} : { last4 }) } };
};

export default hello;
`,
  'reactors/hello/args.json': `{ "name": "Ada", "card": { "number": "4242424242424242" } }
`,
  'proxies/echo/proxy.yaml': `name: Echo
# Requests to the proxy go there. An address of your own bank, shop or partner.
destination_url: https://example.com/charges
`,
  'proxies/echo/request.ts': `import type { RequestTransform } from '@glovebox/reactor-types';

/** Sends amounts in cents. */
const transform: RequestTransform<{ amount: number }> = ({ args: { headers, body } }) => ({
  headers,
  body: body && { ...body, amount: Math.round(body.amount * 100) },
});

export default transform;
`,
  'proxies/echo/call.json': `{
  "request": {
    "method": "POST",
    "headers": { "content-type": "application/json" },
    "body": "{\\"amount\\": 12.5}"
  }
}
`,
  'tests/hello.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reactor, transform } from '@glovebox/testing';

const hello = reactor('hello');
const echo = transform('echo');

test('shows the end of the card alone', async () => {
  const { result } = await hello({ name: 'Ada', card: { number: '4242424242424242' } });
  assert.deepEqual(result, { raw: { hello: 'Ada', last4: '4242' } });
});

test('refuses an empty name', async () => {
  await assert.rejects(hello({ name: '' }), { code: 'reactor_error', status: 400 });
});

test('sends amounts in cents', async () => {
  const { request } = await echo({ request: { body: { amount: 12.5 } } });
  assert.deepEqual(JSON.parse(request.body), { amount: 1250 });
});
`,
  'tsconfig.json': `{
  "compilerOptions": {
    "target": "es2023",
    "lib": ["es2023", "dom"],
    "module": "preserve",
    "moduleResolution": "bundler",
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "types": [],
    "paths": { "@glovebox/reactor-types": ["./types/reactor-types/index.d.ts"] }
  },
  "include": ["reactors", "proxies", "tests", "types"]
}
`,
  ...builtReactorTypes,
  'types/testing.d.ts': `// Types of tests.

declare module '@glovebox/testing' {
  interface Options {
    readonly configuration?: Readonly<Record<string, string>>;
    /** Lets the code connect. */
    readonly network?: boolean;
  }
  interface Line {
    readonly level: string;
    readonly text: string;
  }
  interface Request {
    readonly method?: string;
    readonly path?: string;
    readonly query?: string;
    readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    /** An object is sent as JSON. */
    readonly body?: unknown;
  }
  interface Answer {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    readonly body?: unknown;
  }
  interface Sent {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly body: string;
  }
  interface Received {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly body: string;
  }

  /** Runs reactors/SLUG in the sandbox of Glovebox. Rejects with code and status of the error. */
  export function reactor(
    slug: string,
    options?: Options,
  ): (args?: unknown) => Promise<{
    readonly result: any;
    readonly lines: readonly Line[];
    readonly durationMs: number;
  }>;

  /** Takes a request, and an answer if one is given, through proxies/SLUG. Nothing leaves. */
  export function transform(
    slug: string,
    options?: Pick<Options, 'configuration'>,
  ): (call: { request?: Request; answer?: Answer }) => Promise<{
    readonly request: Sent;
    readonly answer: Received;
    readonly lines: readonly Line[];
    readonly durationMs: number;
  }>;
}
`,
});
