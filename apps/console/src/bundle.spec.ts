import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const built = join(__dirname, '../../../dist/apps/console');
const assets = readdirSync(join(built, 'assets'));
const page = readFileSync(join(built, 'index.html'), 'utf8');

const textOf = (name: string) => readFileSync(join(built, 'assets', name), 'utf8');
const packedKb = (texts: readonly string[]) =>
  texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0) / 1024;

const isFirst = (name: string) => page.includes(`/assets/${name}`);
const laterScripts = assets.filter((name) => name.endsWith('.js') && !isFirst(name));

it('the first load of the console is at most 200 KB packed', () => {
  const first = assets.filter(isFirst);
  expect(first.some((name) => name.endsWith('.js'))).toBe(true);
  expect(first.some((name) => name.endsWith('.css'))).toBe(true);
  expect(packedKb([page, ...first.map(textOf)])).toBeLessThan(200);
});

it('the editor is loaded apart from the first load, with at most 190 KB packed', () => {
  expect(laterScripts.length).toBeGreaterThan(0);
  expect(packedKb(laterScripts.map(textOf))).toBeLessThan(190);
});

it('the page of the console has neither inline script nor inline style', () => {
  const scripts = [...page.matchAll(/<script\b([^>]*)>([^<]*)<\/script>/g)];
  expect(scripts.length).toBeGreaterThan(0);
  for (const [, attributes, text] of scripts) {
    expect(attributes).toContain('src="/assets/');
    expect(text).toBe('');
  }
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/);
});

it('the page of the console names no other origin', () => {
  expect(page).not.toMatch(/(src|href)="(?!\/)/);
});

it('built files of the console are named by their content and bring no map of the sources', () => {
  for (const name of assets) expect(name).toMatch(/-[\w-]{8}\.(js|css|svg)$/);
  for (const name of assets) expect(textOf(name)).not.toContain('sourceMappingURL');
});

it('the console is built with the half of React that is for production', () => {
  const scripts = assets.filter((name) => name.endsWith('.js')).map(textOf);
  expect(scripts.join('\n')).not.toContain('react-dom-client.development');
});
