import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { webhookHeaders } from './sign-webhook';

type IsGenuine = (headers: Record<string, string>, body: string, secret: string) => boolean;

const page = readFileSync(join(__dirname, '../../../docs/reference/webhooks.md'), 'utf8');
const [, sample = ''] = /^```js\n([^]*?)^```/m.exec(page) ?? [];
const load = compileFunction(`${sample}\nreturn isGenuine;`, ['require']) as (
  require: NodeJS.Require,
) => IsGenuine;
const isGenuine = load(createRequire(__filename));

const secretOf = (text: string): string => `whsec_${Buffer.from(text).toString('base64')}`;
const [newest, oldest] = [secretOf('the newest secret of all'), secretOf('the one before it')];
const body = '{"raw":{"last4":"4242"}}';
const now = Math.floor(Date.now() / 1_000);
const headersAt = (timestamp: number) =>
  webhookHeaders({ id: 'msg_1', timestamp, body }, [newest, oldest]);

describe('the verification in docs/reference/webhooks.md', () => {
  it('accepts a webhook by the newest secret', () => {
    expect(isGenuine(headersAt(now), body, newest)).toBe(true);
  });

  it('accepts a webhook by the secret before it, while both sign', () => {
    expect(isGenuine(headersAt(now), body, oldest)).toBe(true);
  });

  it('refuses a webhook by another secret', () => {
    expect(isGenuine(headersAt(now), body, secretOf('of another tenant'))).toBe(false);
  });

  it('refuses a webhook with a changed body', () => {
    expect(isGenuine(headersAt(now), `${body} `, newest)).toBe(false);
  });

  it('refuses a webhook with a changed id', () => {
    const headers = { ...headersAt(now), 'webhook-id': 'msg_2' };
    expect(isGenuine(headers, body, newest)).toBe(false);
  });

  it('refuses a webhook of an hour ago', () => {
    expect(isGenuine(headersAt(now - 3_600), body, newest)).toBe(false);
  });
});
