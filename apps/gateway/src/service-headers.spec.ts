import { serviceHeaders } from './service-headers';

const headers = serviceHeaders(['SVC', 'BT']);

describe('the proxy key in the query', () => {
  it('is taken out, everything else stays as it was', () => {
    expect(headers.takeProxyKey('a=1&svc-proxy-key=k&b=%20&&c')).toEqual({
      key: 'k',
      rest: 'a=1&b=%20&&c',
    });
    expect(headers.takeProxyKey('bt-proxy-key=k')).toEqual({ key: 'k', rest: '' });
    expect(headers.takeProxyKey('%73vc-proxy-key=k%31')).toEqual({ key: 'k1', rest: '' });
    expect(headers.takeProxyKey('x=svc-proxy-key')).toEqual({
      key: undefined,
      rest: 'x=svc-proxy-key',
    });
  });

  it('given twice is refused', () => {
    expect(() => headers.takeProxyKey('svc-proxy-key=a&bt-proxy-key=a')).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });
});
