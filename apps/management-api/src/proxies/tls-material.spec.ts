import { createAuthority } from '@glovebox/testing';
import { useTestApi } from '../spec-api';

const api = useTestApi();

const authority = createAuthority();
const { cert, key } = authority.issue('DNS:client.test');
const other = authority.issue('DNS:other.test');
const bare = { name: 'Proxy', destination_url: 'https://bank.example.com' };
const client_certificate = { certificate: cert, private_key: key };
const full = { ...bare, client_certificate, certificate_authority: authority.ca };
const stored = { certificate: cert, privateKey: key, authority: authority.ca };

type Proxy = Record<string, unknown> & { id: string };

const made = (input: object = full): Promise<Proxy> => api.made<Proxy>('/proxies', input);

const read = async (id: string): Promise<Proxy> => (await api.get(`/proxies/${id}`)).body as Proxy;
const inForce = (id: string) => api.inForce('proxy', id)?.tls;

describe('TLS material of a proxy', () => {
  it('reaches the data plane, and no operation shows its private key', async () => {
    const created = await made();
    const shown = {
      client_certificate: { certificate: cert },
      certificate_authority: authority.ca,
    };
    expect(created).toMatchObject(shown);
    expect(inForce(created.id)).toEqual(stored);
    const put = await api.put(`/proxies/${created.id}`, full);
    const list = await api.get('/proxies');
    for (const answer of [created, await read(created.id), put.body, list.body]) {
      expect(JSON.stringify(answer)).toContain('BEGIN CERTIFICATE');
      expect(JSON.stringify(answer)).not.toContain('PRIVATE KEY');
    }
  });

  it('is sealed in its row', async () => {
    const { id } = await made();
    const rows = await api.ctx.dataSource.transaction(async (manager) => {
      await manager.query(`SELECT set_config('glovebox.tenant_id', $1, true)`, [
        api.tenant.tenant_id,
      ]);
      return manager.query<{ tls: Buffer }[]>('SELECT tls FROM proxies WHERE id = $1', [id]);
    });
    expect(rows).toHaveLength(1);
    expect(rows[0]?.tls.toString('latin1')).not.toMatch(/PRIVATE|CERTIFICATE/);
  });

  it('survives a PATCH of another member; null and a PUT without it remove it', async () => {
    const { id } = await made();
    expect((await api.patch(`/proxies/${id}`, { name: 'New' })).status).toBe(204);
    expect(inForce(id)).toEqual(stored);
    expect((await api.patch(`/proxies/${id}`, { client_certificate: null })).status).toBe(204);
    expect(inForce(id)).toEqual({ certificate: null, privateKey: null, authority: authority.ca });
    expect((await api.put(`/proxies/${id}`, bare)).status).toBe(200);
    expect(inForce(id)).toBeNull();
    expect(await read(id)).not.toHaveProperty('certificate_authority');
  });

  it('keeps the key of the stored certificate, which answers do not show', async () => {
    const { id } = await made();
    const shown = await read(id);
    expect((await api.put(`/proxies/${id}`, shown)).status).toBe(200);
    expect(inForce(id)).toEqual(stored);
    expect((await api.patch(`/proxies/${id}`, shown)).status).toBe(204);
    expect(inForce(id)).toEqual(stored);
    const another = { ...bare, client_certificate: { certificate: other.cert } };
    expect((await api.put(`/proxies/${id}`, another)).status).toBe(400);
    expect(inForce(id)).toEqual(stored);
  });

  it.each([
    [{ certificate: cert }, { 'client_certificate.private_key': ['is required'] }],
    [
      { certificate: cert, private_key: other.key },
      { 'client_certificate.private_key': ['does not belong to the certificate'] },
    ],
    [
      { certificate: 'x', private_key: 'y' },
      {
        'client_certificate.certificate': ['must be a certificate in PEM'],
        'client_certificate.private_key': ['must be a private key in PEM, not encrypted'],
      },
    ],
  ])('is refused with 400 if the client certificate cannot be used: %#', async (client, errors) => {
    const refused = await api.post('/proxies', { ...bare, client_certificate: client });
    expect([refused.status, (refused.body as { errors: object }).errors]).toEqual([400, errors]);
  });

  it('needs a real authority, and a PATCH of a certificate needs its own key', async () => {
    const refused = await api.post('/proxies', { ...bare, certificate_authority: 'x' });
    expect(refused.body).toMatchObject({
      status: 400,
      errors: { certificate_authority: ['must be one or more certificates in PEM'] },
    });
    const { id } = await made();
    const patch = { client_certificate: { certificate: other.cert } };
    expect((await api.patch(`/proxies/${id}`, patch)).status).toBe(400);
    expect(inForce(id)).toEqual(stored);
  });
});
