import { ServiceHeaders } from '@glovebox/wire';
import { answeredHeaders, forwardedHeaders } from './forwarded-headers';

const ours = new ServiceHeaders(['SVC', 'BT']);

describe('headers on their way to the destination', () => {
  it('pass in their order and spelling if they are the caller’s own, repeated ones too', () => {
    const raw = ['Authorization', 'Bearer x', 'X-A', '1', 'x-a', '2', 'Cookie', 'c=1'];
    expect(forwardedHeaders(raw, ours)).toEqual(raw);
  });

  it.each([
    'SVC-API-KEY',
    'svc-proxy-key',
    'BT-API-KEY',
    'bt-anything',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Host',
    'Expect',
    'Content-Length',
    'X-Forwarded-For',
    'X-Forwarded-Prefix',
    'Forwarded',
  ])('never include %s', (name) => {
    expect(forwardedHeaders([name, 'x', 'X-Kept', 'y'], ours)).toEqual(['X-Kept', 'y']);
  });

  it('stay behind if Connection names them', () => {
    const raw = ['Connection', 'close, X-Hop', 'x-hop', '1', 'X-Kept', '2'];
    expect(forwardedHeaders(raw, ours)).toEqual(['X-Kept', '2']);
  });

  it.each(['Host', 'Content-Type', 'content-length', 'SVC-API-KEY', 'bt-api-key'])(
    'are refused when Connection names %s',
    (name) => {
      expect(() => forwardedHeaders(['Connection', name], ours)).toThrow(
        expect.objectContaining({ status: 400 }),
      );
    },
  );
});

describe('headers on their way back', () => {
  it('stay behind if they are hop-by-hop or Connection names them', () => {
    const raw = ['Set-Cookie', 'a', 'Set-Cookie', 'b', 'Connection', 'X-Hop', 'X-Hop', '1'];
    expect(answeredHeaders(raw, ours)).toEqual(['Set-Cookie', 'a', 'Set-Cookie', 'b']);
    expect(
      answeredHeaders(
        ['Transfer-Encoding', 'chunked', 'Keep-Alive', 'x', 'SVC-Trace-Id', 'forged'],
        ours,
      ),
    ).toEqual([]);
  });
});
