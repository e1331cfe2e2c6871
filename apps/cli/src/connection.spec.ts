import { isInTheClear } from './connection';

it.each([
  'http://127.evil.com',
  'http://127.0.0.1.evil.com:8080',
  'http://localhost.evil.com',
  'http://localhostess/',
  'http://[::2]/',
  'http://glovebox.example',
])('a key would travel through a network in the clear to %s', (url) => {
  expect(isInTheClear(url)).toBe(true);
});

it.each([
  'http://localhost:3000/hooks',
  'http://LOCALHOST',
  'http://127.0.0.1:8080',
  'http://127.1.2.3',
  'http://[::1]:8080',
  'https://127.evil.com',
])('a key would not travel through a network in the clear to %s', (url) => {
  expect(isInTheClear(url)).toBe(false);
});
