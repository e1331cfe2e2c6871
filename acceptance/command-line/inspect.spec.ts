import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AttachedDebugger, freePort, waitFor } from '@glovebox/testing';
import { runningProduct } from '../product';
import { PackedCli } from './packed';

const product = runningProduct();
const keys = { GLOVEBOX_URL: product.baseUrl, GLOVEBOX_KEY: product.adminKey };
const inspector = `127.0.0.1:${product.inspectorPort}`;
const patience = { timeoutMs: 60_000 };

let cli: PackedCli;
beforeAll(() => {
  cli = new PackedCli();
  write('glovebox.yaml', 'version: 1\n');
  write('reactors/double/reactor.yaml', 'name: Double\nruntime: node20\n');
  write('reactors/double/code.ts', code);
  write('reactors/double/lib.ts', helper);
  write('reactors/double/args.json', '{"number": 4}\n');
  write('proxies/bank/proxy.yaml', 'destination_url: https://bank.example/pay\n');
  write('proxies/bank/request.ts', transform);
  write('proxies/bank/call.json', JSON.stringify(request));
});
afterAll(() => cli.remove());

const code = `import { twice } from './lib';

interface Arguments {
  readonly number: number;
}

export default ({ args }: { readonly args: Arguments }) => {
  const doubled = twice(args.number);
  return { raw: doubled };
};
`;
const helper = `interface Unused {
  readonly a: string;
}

export function twice(number: number): number {
  const result = number * 2;
  return result;
}
`;
const request = {
  request: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"n":1}',
  },
};
const transform = `interface Body {
  readonly n: number;
}

export default ({ args }: { readonly args: { readonly headers: object; readonly body: Body } }) => {
  const { headers, body } = args;
  const sum = body.n + 1;
  return { headers, body: { sum } };
};
`;

function write(name: string, text: string): void {
  const path = join(cli.cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const sourceOf = (name: string): string => pathToFileURL(join(realpathSync(cli.cwd), name)).href;

/** `glovebox dev NAME --inspect` for one run. */
class Inspected {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(name: string) {
    const args = ['dev', name, '--inspect', '0', '--inspector', inspector, '--once', '--json'];
    this.#child = cli.start(args, { env: keys });
    this.#child.stdout?.setEncoding('utf8').on('data', (more: string) => (this.stdout += more));
    this.#child.stderr?.setEncoding('utf8').on('data', (more: string) => (this.stderr += more));
    this.ended = new Promise((done) => this.#child.once('close', done));
  }

  async url(): Promise<string> {
    const listening = /^Debugger listening on (ws:\S+)$/m;
    return waitFor(() => listening.exec(this.stderr)?.[1] ?? '', patience);
  }

  async says(text: string): Promise<void> {
    await waitFor(() => this.stderr.includes(text), patience);
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Ends the command, also where the test has failed. */
async function inspecting(
  name: string,
  work: (command: Inspected) => Promise<void>,
): Promise<void> {
  const command = new Inspected(name);
  try {
    await work(command);
  } catch (error) {
    throw new Error(`glovebox said: ${command.stderr}${command.stdout}`, { cause: error });
  } finally {
    command.end();
    await command.ended;
  }
}

/** Lets the run go on until it is at the line of the file. */
async function stopAt(editor: AttachedDebugger, file: string, line: number) {
  editor.say('Runtime.enable', 'Debugger.enable', 'Runtime.runIfWaitingForDebugger');
  const script = await editor.parsed('reactor.js');
  await editor.paused();
  const location = await editor.placeOf(script, file, line);
  await editor.ask('Debugger.setBreakpoint', { location });
  await editor.ask('Debugger.resume');
  const paused = await editor.paused();
  expect(editor.sourceLineOf(script, paused)).toBe(`${file}:${line}`);
  return paused;
}

it('a reactor stops in the sandbox at the line of the source that has a breakpoint, and shows its variables', async () => {
  await inspecting('double', async (command) => {
    const editor = await AttachedDebugger.attach(await command.url());
    const paused = await stopAt(editor, sourceOf('reactors/double/lib.ts'), 7);
    expect(await editor.valueOf(paused, 'result')).toBe(8);
    editor.say('Debugger.resume');
    expect(await command.ended).toBe(0);
    expect(JSON.parse(command.stdout)).toMatchObject({ status: 'completed', result: { raw: 8 } });
    await waitFor(() => editor.isClosed);
  });
});

it('a transform of a request stops at the line of its source', async () => {
  await inspecting('bank', async (command) => {
    const editor = await AttachedDebugger.attach(await command.url());
    const paused = await stopAt(editor, sourceOf('proxies/bank/request.ts'), 8);
    expect(await editor.valueOf(paused, 'sum')).toBe(2);
    editor.say('Debugger.resume');
    expect(await command.ended).toBe(0);
    expect(JSON.parse(command.stdout)).toMatchObject({ request: { body: '{"sum":2}' } });
  });
});

it('node inspect attaches, and its cont lets the run end', async () => {
  await inspecting('double', async (command) => {
    const client = spawn(process.execPath, ['inspect', new URL(await command.url()).host]);
    try {
      let said = '';
      client.stdout.setEncoding('utf8').on('data', (more: string) => (said += more));
      await waitFor(() => said.includes('Break on start in reactor.js'), patience);
      client.stdin.write('cont\n');
      expect(await command.ended).toBe(0);
      expect(JSON.parse(command.stdout)).toMatchObject({ result: { raw: 8 } });
    } finally {
      client.kill('SIGKILL');
    }
  });
});

it('a run waits for its debugger, and an interruption ends it at once', async () => {
  await inspecting('double', async (command) => {
    await command.says('waits for a debugger');
    command.interrupt();
    expect(await command.ended).toBe(130);
  });
});

it('without a runner that lets code be inspected, it says how a product does', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const args = ['dev', 'double', '--inspect', '0', '--inspector', address];
  const ended = await cli.run(args, { env: keys });
  expect([ended.code, ended.stdout]).toEqual([5, '']);
  expect(ended.stderr).toContain(`Nobody listens at ${address}`);
  expect(ended.stderr).toContain('SANDBOX_INSPECT=true npm start');
});

it('svc and a runner elsewhere are refused before anything is sent', async () => {
  const svc = await cli.run(['dev', 'double', '--inspect', '--svc'], { env: keys });
  expect([svc.code, svc.stderr]).toEqual([2, expect.stringContaining('exclude each other')]);
  const args = ['dev', 'double', '--inspect', '--inspector', 'runner.example:9230'];
  const elsewhere = await cli.run(args, { env: keys });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('ssh -L')]);
});
