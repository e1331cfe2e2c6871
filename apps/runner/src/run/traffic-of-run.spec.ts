import { TrafficOfRun } from './traffic-of-run';

const owner = { tenantId: 'tenant', resourceId: 'reactor' };
const mebibyte = 1024 * 1024;

function trafficOfRun() {
  const noted: unknown[] = [];
  const traffic = new TrafficOfRun(owner, (record) => noted.push(record));
  return { traffic, noted };
}

describe('the connections of one run', () => {
  it('are 1,000 at most', () => {
    const { traffic } = trafficOfRun();
    for (let n = 0; n < 1_000; n += 1) traffic.begin('a.test', 443).end('closed');
    expect(() => traffic.begin('a.test', 443)).toThrow(expect.objectContaining({ code: 'EDQUOT' }));
  });

  it('carry 100 MiB each, in each direction', () => {
    for (const way of ['send', 'receive'] as const) {
      const connection = trafficOfRun().traffic.begin('a.test', 443);
      expect(connection[way](100 * mebibyte)).toBe(true);
      expect(connection[way](1)).toBe(false);
    }
  });

  it('carry 400 MiB in all, in both directions', () => {
    const { traffic } = trafficOfRun();
    for (let n = 0; n < 4; n += 1) {
      const connection = traffic.begin('a.test', 443);
      expect(connection.send(50 * mebibyte)).toBe(true);
      expect(connection.receive(50 * mebibyte)).toBe(true);
    }
    expect(traffic.begin('a.test', 443).receive(1)).toBe(false);
  });

  it('have 50 lines in the log, and the others share one, when the last has ended', () => {
    const { traffic, noted } = trafficOfRun();
    const open = Array.from({ length: 120 }, () => traffic.begin('a.test', 443));
    const last = open.pop();
    for (const connection of open) {
      connection.send(1);
      connection.receive(2);
      connection.end('closed');
    }
    traffic.end();
    expect(noted).toHaveLength(50);
    last?.end('ECANCELED');
    expect(noted.slice(49)).toEqual([
      expect.objectContaining({ ...owner, host: 'a.test', bytesSent: 1, bytesReceived: 2 }),
      { ...owner, connections: 70, bytesSent: 69, bytesReceived: 138 },
    ]);
  });

  it('name hosts of 253 characters at most', () => {
    const { traffic, noted } = trafficOfRun();
    traffic.begin('x'.repeat(4_000), 443).end('EGRESS_REFUSED');
    expect(noted).toEqual([expect.objectContaining({ host: 'x'.repeat(253) })]);
  });
});
