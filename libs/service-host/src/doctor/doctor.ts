import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildInfo } from '../build-info';
import { ConfigError } from '../config';
import { fault, ok, unknown, type Check, type Finding } from './findings';
import { checkOfProcess } from './process-check';

const checkMs = 5_000;
const nodeOldest = [20, 19];
const nodeOfImages = 24;

const help = `
usage: node doctor.main.js [--json] [--ops URL]…

Looks for what is wrong with this app, its stores and its surroundings, and says what mends it. It changes nothing and
prints no secret. It takes the settings of the app from the same variables.

  --json      one document in place of lines
  --ops URL   another process to look at, by the address of its ops port; may be repeated

It ends with 0 if nothing is broken (warnings may be left), with 1 if something is, with 2 if it was not called as above.`;

/** What an app has to look at. */
export interface Examination {
  /** Where a process of this app on this machine serves health and metrics. */
  readonly ops: { readonly HOST: string; readonly OPS_PORT: number };
  readonly checks: readonly Check[];
  close(): Promise<void>;
}

interface Found extends Finding {
  readonly name: string;
}

/**
 * The command of an app. Checks run side by side, and each has its time, so that a store that hangs
 * keeps no other from being looked at. Ends the process: what hangs is not waited for.
 */
export async function runDoctor(options: {
  readonly app: string;
  readonly args: readonly string[];
  readonly examine: () => Promise<Examination>;
}): Promise<never> {
  const asked = readArguments(options.args);
  if (typeof asked === 'string') {
    process.stderr.write(`${asked}\n`);
    process.exit(2);
  }
  if (asked.help) {
    process.stdout.write(`${help.trim()}\n`);
    process.exit(0);
  }
  const found = await findAll(options.examine, asked.ops);
  const isBroken = found.some(({ condition }) => condition === 'fault' || condition === 'unknown');
  const { app } = options;
  const report = asked.json
    ? JSON.stringify({ app, ...buildInfo, healthy: !isBroken, checks: found }, null, 2)
    : [`${app} ${buildInfo.version} (${buildInfo.commit})`, ...found.map(lineOf)].join('\n');
  await new Promise((resolve) => process.stdout.write(`${report}\n`, resolve));
  process.exit(isBroken ? 1 : 0);
}

function readArguments(
  args: readonly string[],
): string | { readonly json: boolean; readonly help: boolean; readonly ops: readonly string[] } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        ops: { type: 'string', multiple: true, default: [] },
      },
    });
    const wrong = values.ops.find((url) => !URL.canParse(url));
    return wrong === undefined ? values : `--ops ${wrong} is not a URL\n${help.trim()}`;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${help.trim()}`;
  }
}

async function findAll(
  examine: () => Promise<Examination>,
  ops: readonly string[],
): Promise<readonly Found[]> {
  const others = ops.map((url) => checkOfProcess(`process at ${new URL(url).host}`, url));
  let examination: Examination;
  try {
    examination = await examine();
  } catch (error) {
    const configuration = {
      name: 'configuration',
      run: () => Promise.resolve(faultOfSettings(error)),
    };
    return Promise.all([nodeCheck, configuration, ...others].map(find));
  }
  const own = checkOfProcess('process', opsUrlOf(examination.ops));
  const configured = {
    name: 'configuration',
    run: () => Promise.resolve(ok('every setting can be used')),
  };
  const checks = [nodeCheck, configured, own, ...examination.checks, ...others];
  const found = await Promise.all(checks.map(find));
  await Promise.race([examination.close(), delay(checkMs, undefined, { ref: false })]);
  return found;
}

/** A process that listens on all addresses answers on this one. */
const opsUrlOf = ({ HOST, OPS_PORT }: Examination['ops']): string =>
  `http://${HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST}:${OPS_PORT}`;

async function find({ name, run }: Check): Promise<Found> {
  const signal = AbortSignal.timeout(checkMs);
  const late = new Promise<Finding>((resolve) => {
    const says = `no answer within ${checkMs / 1_000} s`;
    signal.addEventListener('abort', () => resolve(unknown(says)), { once: true });
  });
  const running = run(signal).catch(faultOf);
  return { name, ...(await Promise.race([running, late])) };
}

const asDocumented = 'Set it as docs/configuration.md says';

/** Before the first call no error holds customer data; a configuration names no value either. */
function faultOf(error: unknown): Finding {
  if (error instanceof ConfigError) {
    return fault(error.faults.join('; '), asDocumented);
  }
  const { code } = error as { code?: unknown };
  const name = error instanceof Error ? error.name : 'an error';
  return unknown(`the check failed: ${typeof code === 'string' ? code : name}`);
}

/**
 * Settings that are well-formed one by one may still make no policy of egress. Its error names the
 * setting, as at the start of the process.
 */
function faultOfSettings(error: unknown): Finding {
  const isOurs = error instanceof Error && error.name === 'Error' && !('code' in error);
  return isOurs ? fault(error.message, asDocumented) : faultOf(error);
}

const nodeCheck: Check = {
  name: 'Node.js',
  run() {
    const { node } = process.versions;
    const [major = 0, minor = 0] = node.split('.').map(Number);
    const [oldestMajor = 0, oldestMinor = 0] = nodeOldest;
    const isTooOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
    return Promise.resolve(
      isTooOld
        ? fault(`${node} is too old`, `Use Node.js ${nodeOfImages}, as the images do`)
        : ok(node),
    );
  },
};

const marks = { ok: 'ok     ', warning: 'WARNING', fault: 'FAULT  ', unknown: 'UNKNOWN' } as const;

const lineOf = ({ name, condition, says, remedy }: Found): string =>
  `  ${marks[condition]}  ${name}: ${says}${remedy === undefined ? '' : `\n           → ${remedy}`}`;
