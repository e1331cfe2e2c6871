import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { AttachedDebugger, startDestination, waitFor, type Destination } from '@glovebox/testing';
import { dev } from '../commands/dev';
import { contextOf } from '../context';
import { AuthorsFolder, endLeft, interruptionsOf } from '../run/spec-lender';
import { SpecRunner } from './spec-runner';

const code = `import { twice } from './lib';

export default ({ args }: { readonly args: { readonly number: number } }) => {
  const doubled = twice(args.number);
  return { raw: doubled };
};
`;
const helper = `export function twice(number: number): number {
  const result = number * 2;
  return result;
}
`;

let runner: SpecRunner;
let api: Destination;
let folder: AuthorsFolder;
let root: string;
beforeEach(async () => {
  runner = await SpecRunner.start();
  api = await startDestination(async (request, response) => {
    const { reactor } = request.json() as { reactor: { formula: { code: string } } };
    const result: unknown = JSON.parse(await runner.run(reactor.formula.code));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'completed', result, lines: [], duration_ms: 1 }));
  });
  folder = new AuthorsFolder();
  root = realpathSync(folder.path);
  write('glovebox.yaml', 'version: 1\n');
  write('reactors/double/reactor.yaml', 'name: Double\nruntime: node20\n');
  write('reactors/double/code.ts', code);
  write('reactors/double/lib.ts', helper);
});
afterEach(async () => {
  folder.remove();
  await Promise.all([runner.close(), api.close()]);
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder.path, name)), { recursive: true });
  writeFileSync(join(folder.path, name), text);
}

/** The command, with what it prints. */
class Command {
  readonly #interruptions = interruptionsOf();
  readonly #streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  readonly ended: Promise<unknown>;
  results = '';
  words = '';

  constructor(options: Parameters<typeof dev>[1] = {}) {
    const { stdout, stderr } = this.#streams;
    stdout.on('data', (more: Buffer) => (this.results += more.toString()));
    stderr.on('data', (more: Buffer) => (this.words += more.toString()));
    const env = { ...folder.env, GLOVEBOX_KEY: 'key_of_the_author' };
    const process = { ...this.#streams, cwd: () => root } as unknown as NodeJS.Process;
    const settings = { color: false, json: true, url: api.url };
    const context = contextOf(settings, env, process, this.#interruptions.interruptions);
    const asked = { inspect: '0', inspector: runner.address, once: true, ...options };
    this.ended = dev(context, asked, 'double').then(
      () => 'done',
      (error: unknown) => context.explained(error),
    );
  }

  async says(text: string): Promise<void> {
    await waitFor(() => this.words.includes(text));
  }

  async debuggerUrl(): Promise<string> {
    const listening = /Debugger listening on (ws:\S+)\n/;
    return waitFor(() => listening.exec(this.words)?.[1] ?? '');
  }

  interrupt(): void {
    this.#interruptions.send('SIGINT');
  }
}

const sourceOf = (name: string): string => pathToFileURL(join(root, name)).href;

const attach = async (command: Command): Promise<AttachedDebugger> =>
  AttachedDebugger.attach(await command.debuggerUrl());

it('a run stops at the line of a file of the author, and goes on to its result', async () => {
  const command = new Command();
  const editor = await attach(command);
  editor.say('Runtime.enable', 'Debugger.enable', 'Runtime.runIfWaitingForDebugger');
  const script = await editor.parsed('reactor.js');
  expect(await editor.paused()).toMatchObject({ reason: 'Break on start', hitBreakpoints: [] });
  const file = sourceOf('reactors/double/lib.ts');
  const location = await editor.placeOf(script, file, 3);
  await editor.ask('Debugger.setBreakpoint', { location });
  await editor.ask('Debugger.resume');
  const paused = await editor.paused();
  expect(editor.sourceLineOf(script, paused)).toBe(`${file}:3`);
  expect(await editor.valueOf(paused, 'result')).toBe(8);
  await editor.ask('Debugger.resume');
  expect(await command.ended).toBe('done');
  expect(JSON.parse(command.results)).toMatchObject({ result: { raw: 8 } });
  await waitFor(() => editor.isClosed);
});

it('a debugger that waits for source maps is told of one before the code runs', async () => {
  const command = new Command();
  const editor = await attach(command);
  const instrumentation = 'beforeScriptWithSourceMapExecution';
  editor.say('Runtime.enable', 'Debugger.enable');
  editor.say(['Debugger.setInstrumentationBreakpoint', { instrumentation }]);
  editor.say('Runtime.runIfWaitingForDebugger');
  const { scriptId, sourceMapURL } = await editor.parsed('reactor.js');
  expect(await editor.paused()).toMatchObject({
    ...{ reason: 'instrumentation', data: { scriptId, sourceMapURL, url: 'reactor.js' } },
  });
  editor.say('Debugger.resume');
  expect(await command.ended).toBe('done');
});

it('the run has the secret of the link, and its code waits for a debugger', async () => {
  const command = new Command();
  await command.says('The reactor (node20) waits for a debugger at 127.0.0.1:');
  const [{ session } = {}] = runner.lines;
  expect(session).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(await command.debuggerUrl()).not.toContain(session);
  expect(api.requests.map((request) => (request.json() as { inspect: string }).inspect)).toEqual([
    session,
  ]);
  expect(runner.lines.some(({ start }) => start)).toBe(false);
  command.interrupt();
  expect(await command.ended).toMatchObject({ exit: 'interrupted' });
});

it('a run that a debugger leaves goes on to its end', async () => {
  const command = new Command();
  const editor = await attach(command);
  editor.say('Debugger.enable', 'Runtime.runIfWaitingForDebugger');
  await editor.paused();
  editor.detach();
  expect(await command.ended).toBe('done');
});

it('a debugger that left before the start leaves its place to another one', async () => {
  const command = new Command();
  const first = await attach(command);
  first.say('Debugger.enable');
  await command.says('waits until the debugger lets it run');
  first.detach();
  await command.says('waits for a debugger');
  const second = await attach(command);
  second.say('Runtime.runIfWaitingForDebugger');
  expect(await command.ended).toBe('done');
});

it('the same address serves the run of the next save', async () => {
  const command = new Command({ once: false });
  const first = await attach(command);
  first.say('Runtime.runIfWaitingForDebugger');
  await waitFor(() => command.results.includes('"raw":8'));
  await waitFor(() => first.isClosed);
  const second = await attach(command);
  second.say('Runtime.enable', 'Runtime.runIfWaitingForDebugger');
  write('reactors/double/lib.ts', helper.replace('* 2', '* 3'));
  await waitFor(() => command.results.includes('"raw":12'));
  command.interrupt();
  expect(await command.ended).toBe('done');
});

it('a runner that was restarted serves the next run', async () => {
  const command = new Command({ once: false });
  const first = await attach(command);
  first.say('Runtime.runIfWaitingForDebugger');
  await waitFor(() => command.results.includes('"raw":8'));
  runner.link?.destroy();
  await command.says('The connection to the runner is lost');
  const second = await attach(command);
  second.say('Runtime.runIfWaitingForDebugger');
  write('reactors/double/lib.ts', helper.replace('* 2', '* 3'));
  await waitFor(() => command.results.includes('"raw":12'));
  command.interrupt();
  expect(await command.ended).toBe('done');
});

it('node inspect attaches, stops at the start, and lets the run end', async () => {
  const command = new Command();
  const { host } = new URL(await command.debuggerUrl());
  const client = spawn(process.execPath, ['inspect', host]);
  let said = '';
  client.stdout.setEncoding('utf8').on('data', (more: string) => (said += more));
  try {
    await waitFor(() => said.includes('Break on start in reactor.js'));
    client.stdin.write('cont\n');
    expect(await command.ended).toBe('done');
  } finally {
    if (client.pid !== undefined) endLeft(client.pid);
  }
});

it('a value of a token is asked for by no inspected run', async () => {
  expect(await new Command({ svc: true }).ended).toMatchObject({ exit: 'usage' });
  expect(await new Command({ inspect: 'double' }).ended).toMatchObject({ exit: 'usage' });
  expect(runner.lines).toEqual([]);
});
