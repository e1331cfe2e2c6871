import { X509Certificate } from 'node:crypto';
import { useTestApi } from '../spec-api';

const api = useTestApi();
const path = '/tenants/self/forward-ca';
const day = 24 * 60 * 60_000;

interface ForwardCa {
  readonly certificates: string;
  readonly signs_from?: string;
}

const show = async (key?: string): Promise<ForwardCa> => {
  const answer = await api.get(path, key);
  expect(answer.status).toBe(200);
  return answer.body as ForwardCa;
};

const parted = ({ certificates }: ForwardCa): string[] =>
  certificates.match(/-----BEGIN[^]*?END CERTIFICATE-----\n/g) ?? [];

async function inForce(id = api.tenant.tenant_id) {
  return (await api.ctx.definitions.follower.current()).find('authority', id, id);
}

describe('GET /tenants/self/forward-ca', () => {
  it('makes one authority, however many callers are the first', async () => {
    expect(await inForce()).toBeUndefined();
    const answers = await Promise.all(Array.from({ length: 4 }, () => show()));
    expect(new Set(answers.map(({ certificates }) => certificates)).size).toBe(1);
    const [only, ...more] = parted(await show());
    expect(more).toEqual([]);
    const certificate = new X509Certificate(only ?? '');
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toContain(api.tenant.tenant_id);
    expect(await inForce()).toMatchObject({ authorities: [{ certificate: only, until: null }] });
    const lines = await api.get('/logs?operation=tenant.create_forward_ca');
    expect((lines.body as { data: object[] }).data).toHaveLength(1);
  });

  it('is one of its own for each tenant, and shows no key', async () => {
    const [own, foreign] = [await show(), await show(api.foreign.management_key)];
    expect(foreign.certificates).not.toBe(own.certificates);
    expect(JSON.stringify([own, foreign])).not.toContain('PRIVATE');
  });

  it('keeps its key sealed', async () => {
    await show();
    const [authority] = (await inForce())?.authorities ?? [];
    expect(authority?.privateKey).toContain('PRIVATE KEY');
    const [row] = await api.admin.query<{ row: string }>(
      `SELECT encode(forward_authorities, 'escape') AS row FROM tenants WHERE id = $1`,
      [api.tenant.tenant_id],
    );
    expect(row?.row).not.toMatch(/PRIVATE|BEGIN/);
  });

  it('answers 401 and 403', async () => {
    expect((await api.get(path, 'nobody')).status).toBe(401);
    expect((await api.get(path, api.tenant.private_key)).status).toBe(403);
    const reader = await api.keyWith('management', ['tenant:read']);
    expect((await api.get(path, reader)).status).toBe(200);
  });
});

describe('POST /tenants/self/forward-ca/rotate', () => {
  it('lets the former authority sign for thirty days, and a second rotation ends it', async () => {
    const [first] = parted(await show());
    const rotated = await api.post(`${path}/rotate`, '');
    expect(rotated.status).toBe(200);
    const [second, former, ...more] = parted(rotated.body as ForwardCa);
    expect([former, more]).toEqual([first, []]);
    expect(second).not.toBe(first);
    const { signs_from: from = '' } = rotated.body as ForwardCa;
    expect((Date.parse(from) - Date.now()) / day).toBeCloseTo(30, 1);
    expect(await show()).toEqual(rotated.body);
    expect(await inForce()).toMatchObject({
      authorities: [
        { certificate: second, until: null },
        { certificate: first, until: from },
      ],
    });
    const again = (await api.post(`${path}/rotate`, '')).body as ForwardCa;
    expect(parted(again)).toEqual([expect.not.stringMatching('PRIVATE'), second]);
    expect(JSON.stringify(await inForce())).not.toContain(JSON.stringify(first).slice(1, -1));
  });

  it('answers 401 and 403 without rotating', async () => {
    const before = await show();
    expect((await api.post(`${path}/rotate`, '', 'nobody')).status).toBe(401);
    const reader = await api.keyWith('management', ['tenant:read']);
    expect((await api.post(`${path}/rotate`, '', reader)).status).toBe(403);
    expect(await show()).toEqual(before);
  });
});

it.each(['deny', 'expressions', 'tunnel'])('forward_unmatched may be %s', async (value) => {
  const input = { name: 'n', settings: { forward_unmatched: value } };
  expect((await api.put('/tenants/self', input)).status).toBe(200);
});

it('forward_unmatched may be nothing else', async () => {
  const refused = await api.put('/tenants/self', {
    name: 'n',
    settings: { forward_unmatched: 'allow' },
  });
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { errors: { 'settings.forward_unmatched': ['must be one of deny, expressions, tunnel'] } },
  ]);
});
