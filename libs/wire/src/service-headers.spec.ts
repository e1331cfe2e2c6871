import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { headerKinds } from './header-kinds';
import { ServiceHeaders } from './service-headers';

function request(...raw: string[]): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  req.rawHeaders = raw;
  return req;
}

describe('service headers', () => {
  it('are read in any letter case and under every prefix', () => {
    const headers = new ServiceHeaders(['BT']);
    for (const name of ['SVC-API-KEY', 'svc-api-key', 'Bt-Api-Key', 'BT-API-KEY']) {
      expect(headers.read(request('Host', 'a', name, 'k'), 'api-key')).toBe('k');
    }
    expect(headers.read(request('X-API-KEY', 'k'), 'api-key')).toBeUndefined();
    expect(headers.read(request('BT-API-KEY', 'k'), 'proxy-key')).toBeUndefined();
  });

  it('are refused when given twice, also under two prefixes or with equal values', () => {
    const headers = new ServiceHeaders(['BT']);
    for (const second of ['svc-proxy-key', 'BT-PROXY-KEY']) {
      const twice = request('SVC-PROXY-KEY', 'k', second, 'k');
      expect(() => headers.read(twice, 'proxy-key')).toThrow(
        expect.objectContaining({ status: 400 }),
      );
      expect(headers.read(twice, 'api-key')).toBeUndefined();
    }
  });

  it('give no trace id that is given twice or is not fit for logs', () => {
    const headers = new ServiceHeaders([]);
    expect(headers.traceIdOf(request('SVC-TRACE-ID', 'a.b:c'))).toBe('a.b:c');
    for (const raw of [
      ['SVC-TRACE-ID', 'a b'],
      ['SVC-TRACE-ID', 'a', 'SVC-TRACE-ID', 'a'],
      ['traceparent', 'nonsense'],
    ]) {
      expect(headers.traceIdOf(request(...raw))).toMatch(/^[0-9a-f-]{36}$/);
    }
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(headers.traceIdOf(request('Traceparent', parent))).toBe(parent.slice(3, 35));
    expect(headers.traceparentOf(request('traceparent', parent, 'traceparent', parent))).toBe(
      `${parent},${parent}`,
    );
  });

  it('keep their meaning after a million names without one', () => {
    const { kinds: names } = new ServiceHeaders([]);
    for (let nth = 0; nth < 1_000_000; nth += 1) names.kindOf(`x-${nth}`);
    expect(names.kindOf('Svc-Anything') & headerKinds.ours).toBe(headerKinds.ours);
    expect(names.kindOf('TRANSFER-ENCODING') & headerKinds.transferEncoding).toBe(
      headerKinds.transferEncoding,
    );
    expect(names.kindOf('x-forwarded-port') & headerKinds.neverPassedOn).toBe(
      headerKinds.neverPassedOn,
    );
    expect([names.kindOf('constructor'), names.kindOf('__proto__'), names.kindOf('x-7')]).toEqual([
      0, 0, 0,
    ]);
  });
});
