import { repoRoot } from './repo.mjs';
import { quoted, startOutput } from './start-output.mjs';
import { tour, tourText } from './tour.mjs';

/** @type {import('./types.js').Dev & { readonly consoleLink: string }} */
const dev = {
  baseUrl: 'http://127.0.0.1:8080',
  managementUrl: 'http://127.0.0.1:8081',
  consoleUrl: 'http://127.0.0.1:8084',
  forwardUrl: 'http://127.0.0.1:8085',
  consoleLink: 'http://127.0.0.1:8084/#code=c0de',
  gatewayUrls: [],
  tenantId: 't',
  adminKey: 'key_admin',
  privateKey: 'key_private',
  secondTenant: { tenantId: 'u', adminKey: 'key_other', privateKey: 'key_others' },
  databaseUrl: '',
  databaseUrls: { admin: '', owner: '', management: '', data: '', rotation: '' },
  redisUrl: '',
  demoDestination: 'http://127.0.0.1:9000',
  sandboxes: 'level 3',
  opsUrls: {},
  logFiles: {},
  pids: {},
  allow: ['127.0.0.1:3000'],
  tour: tour(),
};

it('the output has the tour of the README, each key once, and what a reader needs next', () => {
  const text = startOutput(dev, '/state', { isDefaultFolder: true });
  expect(text).toContain(`\ncd ${quoted(repoRoot)}\n\n${tourText(tour())}\n`);
  for (const key of [dev.adminKey, dev.privateKey]) expect(text.split(key)).toHaveLength(2);
  expect(text).toContain('API documentation http://127.0.0.1:8080/docs\n');
  expect(text).toContain('Logs              /state/logs\n');
  expect(text).toContain('the demo destination, 127.0.0.1:3000 and nothing else');
  expect(text).toContain('npm start -- --allow 127.0.0.1:3000');
  expect(text).toContain('Console           http://127.0.0.1:8084\n');
  expect(text).toMatch(/once, within five minutes[^]*\nhttp:\/\/127\.0\.0\.1:8084\/#code=c0de\n$/);
  expect(text).not.toContain('WARNING');
});

it('with a GLOVEBOX_DIR of its own the tour sets it, whatever letters it has', () => {
  const text = startOutput(dev, "/it's here", { isDefaultFolder: false });
  expect(text).toContain(String.raw` && export GLOVEBOX_DIR='/it'\''s here'`);
});
