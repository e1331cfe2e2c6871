import { ServiceHeaders } from '@glovebox/wire';
import { takeProxyKey } from './proxy-key';

const headers = new ServiceHeaders(['SVC', 'BT']);

describe('the proxy key in the query', () => {
  it('is taken out, and everything else stays as it was', () => {
    expect(takeProxyKey(headers, 'a=1&svc-proxy-key=k&b=%20&&c')).toEqual({
      key: 'k',
      rest: 'a=1&b=%20&&c',
    });
    expect(takeProxyKey(headers, 'bt-proxy-key=k')).toEqual({ key: 'k', rest: '' });
    expect(takeProxyKey(headers, '%73vc-proxy-key=k%31')).toEqual({ key: 'k1', rest: '' });
    expect(takeProxyKey(headers, 'x=svc-proxy-key')).toEqual({
      key: undefined,
      rest: 'x=svc-proxy-key',
    });
  });

  it('is refused when given twice', () => {
    expect(() => takeProxyKey(headers, 'svc-proxy-key=a&bt-proxy-key=a')).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });
});
