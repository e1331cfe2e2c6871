import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { withoutKeys } from '../config';
import { environmentOf } from './environment';

const keys = {
  GLOVEBOX_KEY: 'key_that_manages',
  GLOVEBOX_PRIVATE_KEY: 'key_of_another_application',
  GLOVEBOX_WEBHOOK_SECRET: 'whsec_of_the_tenant',
};
const way = {
  forwardUrl: new URL('http://127.0.0.1:8085'),
  key: 'key_that_is_lent',
  authoritiesFile: '/tmp/authorities.pem',
  glovebox: new URL('http://127.0.0.1:8080'),
};

it('a command gets the lent key, and none of the variables that have a key of its author', () => {
  const env = environmentOf(way, {}, { ...keys, PATH: '/bin' });
  expect(env.PATH).toBe('/bin');
  expect(env.HTTPS_PROXY).toBe('http://glovebox:key_that_is_lent@127.0.0.1:8085');
  for (const key of Object.values(keys)) expect(Object.values(env)).not.toContain(key);
});

it('on Windows a variable with a key is taken out in whatever case its name is', () => {
  const env = { Glovebox_Key: 'key_that_manages', glovebox_url: 'http://127.0.0.1:8080' };
  expect(withoutKeys(env, 'win32')).toEqual({ glovebox_url: 'http://127.0.0.1:8080' });
  expect(withoutKeys(env, 'linux')).toEqual(env);
});

const forward = 'http://glovebox:key_that_is_lent@127.0.0.1:8085';
const direct = 'localhost,127.0.0.1,::1';
const variables = {
  ...{ HTTPS_PROXY: forward, HTTP_PROXY: forward, https_proxy: forward, http_proxy: forward },
  ...{ NO_PROXY: direct, no_proxy: direct },
  ...{ NODE_EXTRA_CA_CERTS: way.authoritiesFile, SSL_CERT_FILE: way.authoritiesFile },
  ...{ REQUESTS_CA_BUNDLE: way.authoritiesFile, CURL_CA_BUNDLE: way.authoritiesFile },
  ...{ GIT_SSL_CAINFO: way.authoritiesFile, NODE_USE_ENV_PROXY: '1' },
};

it('a command gets each name that some client reads, in lower case too', () => {
  expect(environmentOf(way, {}, {})).toEqual(variables);
});

const root = join(__dirname, '../../../..');

function ofCompose(): Record<string, string> {
  const text = readFileSync(join(root, 'docker/compose.forward.yaml'), 'utf8');
  const { services } = parse(text) as {
    services: { agent: { environment: Record<string, string> } };
  };
  return services.agent.environment;
}

function ofPod(): Record<string, string> {
  const text = readFileSync(join(root, 'k8s/forward-pod/pod.yaml'), 'utf8');
  const pod = parseAllDocuments(text)
    .map((document) => document.toJS() as { kind: string; spec: PodSpec })
    .find(({ kind }) => kind === 'Pod');
  const env = pod?.spec.containers.flatMap((container) => container.env) ?? [];
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [name, value ?? `$(${valueFrom?.secretKeyRef.key})`]),
  );
}

interface PodSpec {
  readonly containers: readonly {
    readonly env: readonly {
      readonly name: string;
      readonly value?: string;
      readonly valueFrom?: { readonly secretKeyRef: { readonly key: string } };
    }[];
  }[];
}

it.each([
  ['Compose', ofCompose],
  ['Kubernetes', ofPod],
])('a container of %s gets the variables of a command, with values of its own', (_, read) => {
  const own = read();
  const values: Readonly<Record<string, string | undefined>> = {
    [forward]: own.HTTPS_PROXY,
    [way.authoritiesFile]: own.SSL_CERT_FILE,
  };
  expect(own.HTTPS_PROXY).not.toBe('');
  expect(own).toEqual(
    Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, values[value] ?? value]),
    ),
  );
});
