import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { flag, integer, list, loadConfig, requiredSecret, requiredText, text } from './config';

const settings = {
  NAME: text('a name', 'nobody'),
  URL: requiredText('where it is'),
  PASSWORD: requiredSecret('a password'),
  SIZE: integer('a size', 5, { min: 1, max: 10 }),
  ON: flag('a switch', false),
  PARTS: list('parts', ['one']),
};

describe('configuration', () => {
  it('uses the variables that are set and defaults for the others', () => {
    const config = loadConfig({ URL: 'x', PASSWORD: 'p', PARTS: 'a, b,,c', ON: 'true' }, settings);
    expect(config).toMatchObject({ NAME: 'nobody', URL: 'x', SIZE: 5, ON: true });
    expect(config.PARTS).toEqual(['a', 'b', 'c']);
    expect(config.PASSWORD.reveal()).toBe('p');
  });

  it('lists all faults in one error', () => {
    expect(() => loadConfig({ SIZE: '11', ON: 'yes' }, settings)).toThrow(
      [
        'The configuration is not usable:',
        '  - URL is not set (where it is)',
        '  - PASSWORD is not set (a password)',
        '  - SIZE must be a whole number from 1 to 10',
        '  - ON must be true or false',
      ].join('\n'),
    );
  });

  it('reads a value from the file that NAME_FILE names', () => {
    const folder = mkdtempSync(join(tmpdir(), 'glovebox-config-'));
    try {
      writeFileSync(join(folder, 'password'), 'from a file\n');
      const env = { URL: 'x', PASSWORD_FILE: join(folder, 'password') };
      expect(loadConfig(env, settings).PASSWORD.reveal()).toBe('from a file');
      expect(() => loadConfig({ ...env, PASSWORD_FILE: '/nowhere' }, settings)).toThrow(
        'PASSWORD cannot be read from the file that PASSWORD_FILE names',
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('shows no secret when it is printed', () => {
    const { PASSWORD } = loadConfig({ URL: 'x', PASSWORD: 'hunter2' }, settings);
    const shown = [String(PASSWORD), JSON.stringify({ PASSWORD }), inspect({ PASSWORD })];
    expect(shown.join()).not.toContain('hunter2');
  });
});
