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
