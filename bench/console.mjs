import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from '../tools/lib/test-run/chromium.mjs';
import { Trouble } from '../tools/lib/progress.mjs';
import { check } from './lib/checks.mjs';
import { bandOf } from './lib/figures.cjs';
import { endOnSignal, withProduct } from './lib/product.mjs';
import { runBench } from './lib/results.mjs';

export const about = 'first paint of the console on a cold cache (C1) [--quick] [--write]';

const bench = {
  name: 'console',
  heading: 'The console on a cold cache',
  goals: ['C1'],
  placement:
    'A Chromium that was just started, with an empty cache, on the machine of the product. A link signs in, and the ' +
    'overview of a tenant at work is shown. Milliseconds from the navigation, median of the rounds.',
};
const linkScript = fileURLToPath(new URL('../tools/console-link.mjs', import.meta.url));
const keyItem = 'glovebox.session-key';

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ quick }) => {
    endOnSignal();
    const { program, missing } = await findChromium();
    if (!program) throw new Trouble(`No browser: ${missing}`);
    /** @type {{ firstPaint: number, overview: number }[]} */
    const rounds = [];
    let version = '';
    await withProduct({}, async ({ consoleUrl }, env) => {
      const link = execFileSync(process.execPath, [linkScript], { env, encoding: 'utf8' }).trim();
      /** @type {string | undefined} */
      let key;
      for (let round = 0; round < (quick ? 3 : 21); round += 1) {
        const browser = await chromium.launch({
          executablePath: program.command,
          env: program.env,
          args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
        });
        version = browser.version();
        const page = await browser.newPage();
        if (key !== undefined) {
          await page.addInitScript(`sessionStorage.setItem('${keyItem}', ${JSON.stringify(key)})`);
        }
        await page.goto(key === undefined ? link : consoleUrl);
        await page.getByRole('table', { name: 'Processes' }).waitFor();
        /** @type {{ firstPaint: number, overview: number }} */
        const times = await page.evaluate(timesOfPage);
        key ??= await page.evaluate(`sessionStorage.getItem('${keyItem}')`);
        rounds.push(times);
        await browser.close();
      }
    });
    const first = bandOf(rounds.map(({ firstPaint }) => firstPaint));
    const whole = bandOf(rounds.map(({ overview }) => overview));
    return {
      checks: [
        check('C1', 'first paint', first, ['≤', 800], ' ms'),
        check('C1', 'the overview with its figures', whole, undefined, ' ms'),
      ],
      versions: { Chromium: version },
      details: { rounds },
    };
  });

const timesOfPage = `({
  firstPaint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  overview: performance.now(),
})`;
