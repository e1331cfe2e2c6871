import { formatTraceparent, parseTraceparent } from './traceparent';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

it.each([
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`cc-${traceId}-${spanId}-03-what-later-versions-say`, true],
])('the traceparent %s is understood', (header, sampled) => {
  expect(parseTraceparent(header)).toEqual({ traceId, spanId, sampled });
});

it.each([
  undefined,
  '',
  `ff-${traceId}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}`,
])('the traceparent %s is ignored', (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

it('a written traceparent is read with the same values', () => {
  for (const sampled of [true, false]) {
    const parts = { traceId, spanId, sampled };
    expect(parseTraceparent(formatTraceparent(parts))).toEqual(parts);
  }
});
