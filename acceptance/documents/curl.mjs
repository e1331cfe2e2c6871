#!/usr/bin/env node
// Understands the options of curl that README, guide and examples use: a bare machine has no curl.
import { request } from 'node:http';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
  },
});

// Not fetch, which takes longer to load than all else here.
request(positionals[0] ?? '', {
  method: values.request ?? (values.data === undefined ? 'GET' : 'POST'),
  headers: Object.fromEntries(
    values.header.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  ),
})
  .on('response', (answer) => answer.pipe(process.stdout))
  .end(values.data);
