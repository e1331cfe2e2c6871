/** What everything.mjs prints. */
export const everything = {
  listed: true,
  result: { raw: { n: 'one' } },
  later: { raw: { n: 2 } },
  report: { runId: true, result: { raw: { n: 2 } } },
  proxied: [201, { got: '{"to":"one"}' }],
  hasTag: true,
  conflict: ['precondition_failed'],
  mistyped: ['validation_failed'],
  thrown: ['reactor_error'],
  unreachable: ['not_found'],
};
