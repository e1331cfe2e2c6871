// npm run copy-from: makes here what there is behind another API of the same form.
import { Api } from './lib/copy-from/api.mjs';
import { copyDefinitions, definitionKinds } from './lib/copy-from/copy-definitions.mjs';
import { copyTokens } from './lib/copy-from/copy-tokens.mjs';
import { exportedTokens } from './lib/copy-from/exported-tokens.mjs';
import { readSettings } from './lib/copy-from/settings.mjs';
import { readTokens } from './lib/copy-from/read-tokens.mjs';
import { Report } from './lib/copy-from/report.mjs';
import { script } from './lib/progress.mjs';

const help = `
npm run copy-from [-- OPTION …]

Copies applications, formulas, reactors, proxies and tokens from an API of the form of Basis Theory to Glovebox.
Tokens keep their ids. What is there already is left alone, so it can be run again, and goes on where it ended.
It says what it copied and what not, and why. Values are in no output and in no file.

  FROM_URL               the other API, such as https://api.basistheory.com
  FROM_KEY               key of a management application there: reads applications, formulas, reactors, proxies
  FROM_TOKEN_KEY         key there that reads tokens, by a rule with "reveal"; none: no tokens are copied
  GLOVEBOX_URL           this side (http://127.0.0.1:8080)
  GLOVEBOX_KEY           key of a management application here: creates the same resources
  GLOVEBOX_PRIVATE_KEY   key of a private application here: token:create, and token:read to be quicker the second time

  --keys-from-stdin      read these settings from standard input, as lines NAME=VALUE
  --tokens-file FILE     take tokens from an export: one token as JSON a line; - is standard input
  --only KIND,…          ${[...definitionKinds, 'tokens'].join(', ')}
  --header-prefix NAME   of the headers of the other API (BT)
  --page-size N          how many the other API is asked for at a time (100)
  --key-reveals          trust that FROM_TOKEN_KEY sees whole values, where the other API does not tell
  --allow-http           send keys through a network in the clear
  --json                 one JSON value a line

It ends with 0 when all is here, with 1 when something was left out or it broke off.`;

await script(help, async (args) => {
  const settings = await readSettings(args, process.env);
  const { headerPrefix, pageSize, kinds, tokensFile, keyReveals, isJson } = settings;
  const { FROM_URL, FROM_KEY, FROM_TOKEN_KEY, GLOVEBOX_URL } = settings.values;
  const { GLOVEBOX_KEY, GLOVEBOX_PRIVATE_KEY } = settings.values;
  /** @param {string | undefined} key */
  const there = (key) => new Api('The other API', FROM_URL, `${headerPrefix}-API-KEY`, key);
  /** @param {string | undefined} key */
  const here = (key) => new Api('Glovebox', GLOVEBOX_URL, 'SVC-API-KEY', key);
  const report = new Report(isJson);
  try {
    const chosen = definitionKinds.filter((kind) => kinds.includes(kind));
    if (chosen.length > 0) {
      await copyDefinitions(there(FROM_KEY), here(GLOVEBOX_KEY), chosen, report);
    }
    if (kinds.includes('tokens')) {
      const tokens = tokensFile
        ? exportedTokens(tokensFile)
        : readTokens(there(FROM_TOKEN_KEY), pageSize, keyReveals);
      await copyTokens(tokens, here(GLOVEBOX_PRIVATE_KEY), report);
    }
  } finally {
    report.sum();
  }
  if (report.hasSkipped) process.exitCode = 1;
});
