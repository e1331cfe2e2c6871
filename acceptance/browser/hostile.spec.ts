import { call, create } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { makeLink, product, storedKey, useConsoles } from './console';
import { payloads } from './payloads';

const { browser, openConsole } = useConsoles();

describe('hostile HTML that an anonymous proxy hands out on the base URL', () => {
  let destination: Receiver;
  let attack = '';
  let proxyKey: string;
  beforeAll(async () => {
    destination = await startReceiver((answer) => {
      answer.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      answer.end(`<!doctype html><title>hostile</title>${attack}`);
    });
    const proxy = { name: 'hostile', destination_url: destination.url, require_auth: false };
    proxyKey = String((await create(product, '/proxies', proxy)).key);
  });
  afterAll(() => destination.close());

  /** Reports what it could read of the console, which is open and signed in beside it. */
  const script = (key: string) => `<script>
    const origin = ${JSON.stringify(product.consoleUrl)};
    const key = ${JSON.stringify(key)};
    const seen = {};
    const attempt = async (name, work) => {
      try { seen[name] = await work(); } catch (error) { seen[name] = error.name; }
    };
    const framed = (path) => new Promise((resolve, reject) => {
      const frame = document.createElement('iframe');
      frame.src = origin + path;
      frame.onload = () => {
        try { resolve(frame.contentDocument?.body?.innerHTML ?? 'nothing'); } catch (error) { reject(error); }
      };
      document.body.append(frame);
    });
    (async () => {
      await attempt('sessionStorage', () => ({ ...sessionStorage }));
      await attempt('localStorage', () => ({ ...localStorage }));
      await attempt('cookie', () => document.cookie);
      await attempt('opener', () => window.opener && window.opener.document.body.innerHTML);
      await attempt('fetch', async () => (await fetch(origin + '/')).text());
      await attempt('fetch of the API', async () =>
        (await fetch(origin + '/api/calls', { headers: { 'SVC-API-KEY': key } })).text());
      await attempt('simple post', async () =>
        (await fetch(origin + '/api/console/sessions', { method: 'POST', body: '{}' })).text());
      await attempt('blind post', async () =>
        (await fetch(origin + '/api/console/session', { method: 'DELETE', mode: 'no-cors' })).type);
      await attempt('frame', () => framed('/'));
      await attempt('frame of the API', () => framed('/api/console'));
      await attempt('script', () => new Promise((resolve, reject) => {
        const script = document.createElement('script');
        script.src = origin + '/api/console';
        script.onload = () => resolve('loaded');
        script.onerror = () => reject(new TypeError('refused'));
        document.head.append(script);
      }));
      await attempt('window.open', async () => {
        const opened = window.open(origin + '/');
        await new Promise((resolve) => setTimeout(resolve, 500));
        return opened ? opened.sessionStorage.getItem('glovebox.session-key') : 'no window';
      });
      await attempt('cache', async () => (await caches.keys()).length);
      await attempt('broadcast', () => new Promise((resolve) => {
        const channel = new BroadcastChannel('glovebox.sign-in');
        channel.onmessage = ({ data }) => resolve(data);
        setTimeout(() => resolve('silence'), 200);
      }));
      document.title = 'done';
      document.body.textContent = JSON.stringify(seen);
    })();
  </script>`;

  it('reads nothing of the console: no storage, answer, frame, window or opener', async () => {
    const console = await openConsole();
    const key = await console.evaluate<string>(storedKey);
    attack = script(key);
    // Of the same browser and context, as a tab beside the console.
    const context = await browser().newContext();
    const owner = await context.newPage();
    await owner.goto(await makeLink());
    await owner.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const hostile = await context.newPage();
    await hostile.goto(`${product.baseUrl}/proxy?svc-proxy-key=${proxyKey}`);
    await hostile.waitForFunction("document.title === 'done'", undefined, { timeout: 10_000 });
    const seen = JSON.parse(await hostile.innerText('body')) as Record<string, unknown>;
    expect(seen).toEqual({
      ...{ sessionStorage: {}, localStorage: {}, cookie: '', opener: null },
      ...{ fetch: 'TypeError', 'fetch of the API': 'TypeError', 'simple post': 'TypeError' },
      // What is sent blindly carries no key, so that nobody is signed out.
      'blind post': expect.stringMatching(/^(opaque|TypeError)$/),
      frame: expect.stringMatching(/^(nothing|SecurityError)$/),
      'frame of the API': expect.stringMatching(/^(nothing|SecurityError)$/),
      ...{ script: 'TypeError', cache: expect.anything(), broadcast: 'silence' },
      'window.open': expect.stringMatching(/^(SecurityError|TypeError|no window)$/),
    });
    expect((await call('GET', `${product.consoleUrl}/api/console/session`, { key })).status).toBe(
      200,
    );
    await owner.reload();
    await owner.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await context.close();
  });
});

it('the 60 payloads are live: a page without protection runs them', async () => {
  const context = await browser().newContext();
  const unprotected = await context.newPage();
  const ran = new Set<string>();
  await unprotected.exposeFunction('ran', (what: string) => ran.add(what));
  for (const payload of payloads) {
    await unprotected.setContent(`<div id="a">${payload}</div>`).catch(() => undefined);
  }
  expect(ran.size).toBeGreaterThan(payloads.length / 3);
  await context.close();
});
