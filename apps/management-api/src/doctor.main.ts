import { fault, ok, runDoctor, type Finding } from '@glovebox/service-host';
import { checkStores } from '@glovebox/stores';
import { loadManagementConfig } from './config';

void runDoctor({
  app: 'management-api',
  args: process.argv.slice(2),
  examine() {
    const config = loadManagementConfig(process.env);
    const { checks, close } = checkStores('management-api', config);
    const gateway = {
      name: 'gateway',
      run: (signal: AbortSignal) => findGateway(config.GATEWAY_URL, signal),
    };
    return Promise.resolve({ ops: config, close, checks: [...checks, gateway] });
  },
});

/** Another server may listen there: a management API has no such path. */
async function findGateway(url: string, signal: AbortSignal): Promise<Finding> {
  const health = URL.canParse(url) ? new URL('/health/live', url) : undefined;
  const answer = health && (await fetch(health, { signal }).catch(() => undefined));
  await answer?.body?.cancel();
  if (health && answer?.ok) return ok(`answers at ${health.host}`);
  const found = answer ? `${health?.host} is none: it answers ${answer.status}` : 'does not answer';
  return fault(
    health ? `${found}${answer ? '' : ` at ${health.host}`}` : 'GATEWAY_URL is no URL',
    'Dry runs need it. Check that a gateway runs, GATEWAY_URL, and that the network lets the management API through',
  );
}
