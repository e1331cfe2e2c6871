// The OpenID provider of oidc.spec.ts: node spec-issuer.mjs PORT REDIRECT_URI
import { json } from 'node:stream/consumers';
import Provider from 'oidc-provider';

const [port, redirectUri] = process.argv.slice(2);
const groups = { ada: ['staff', 'admins'], ben: ['readers'], eve: [], zoe: [] };

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'console',
      client_secret: 'secret of the console',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  claims: { openid: ['sub'], profile: ['name', 'groups'] },
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: () => ({ sub, name: `Person ${sub}`, groups: groups[sub] }),
  }),
  pkce: { required: () => true },
});
/** PUT /groups-of-zoe changes what groups zoe is in. */
provider.use(async (ctx, next) => {
  if (ctx.path !== '/groups-of-zoe') return next();
  groups.zoe = await json(ctx.req);
  ctx.status = 204;
});
provider.listen(Number(port), '127.0.0.1', () => console.log('listening'));
