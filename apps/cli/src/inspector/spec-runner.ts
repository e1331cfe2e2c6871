import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { waitFor } from '@glovebox/testing';
import { WebSocket, type RawData } from 'ws';

type Line = Readonly<{ session?: string; message?: string; start?: boolean }>;

/** Loads code as the sandbox does, once a line has come. */
const loader = `
const { compileFunction } = require('node:vm');
process.stdin.once('data', async () => {
  const module = { exports: {} };
  compileFunction(process.env.CODE, ['module'], { filename: 'reactor.js' })(module);
  process.stdout.write(JSON.stringify(await module.exports({ args: { number: 4 } })));
  process.stdin.destroy();
});
`;

/** The inspector's end of a runner. Its runs are processes of Node on this machine. */
export class SpecRunner {
  readonly lines: Line[] = [];
  link: Socket | undefined;
  readonly #processes: ChildProcess[] = [];
  #heard: (line: Line) => void = () => undefined;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(): Promise<SpecRunner> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new SpecRunner(server, (server.address() as AddressInfo).port);
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  say(line: object): void {
    this.link?.write(`${JSON.stringify(line)}\n`);
  }

  /** Runs code as soon as the link lets it, and returns what it prints. */
  async run(code: string, side = 'reactor'): Promise<string> {
    const args = ['--inspect-wait=127.0.0.1:0', '-e', loader];
    const child = spawn(process.execPath, args, { env: { CODE: code } });
    this.#processes.push(child);
    const printed = text(child.stdout);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (more: string) => (said += more));
    const url = await waitFor(() => /ws:\/\/\S+/.exec(said)?.[0] ?? '');
    const sandbox = new WebSocket(url);
    await once(sandbox, 'open');
    sandbox.on('message', (data: RawData) => {
      this.say({ message: (data as Buffer).toString('utf8') });
    });
    this.#heard = ({ message, start }) => {
      if (message !== undefined) sandbox.send(message);
      if (start) child.stdin.write('start\n');
    };
    child.stderr.on('data', () => {
      if (said.includes('Waiting for the debugger to disconnect')) sandbox.close();
    });
    this.say({ begun: { side, runtime: 'node20' } });
    await once(child, 'exit');
    this.say({ ended: true });
    return printed;
  }

  /** Ends what is still running. */
  async close(): Promise<void> {
    this.#processes.forEach((child) => child.kill('SIGKILL'));
    this.link?.destroy();
    await new Promise((done) => this.server.close(done));
  }

  #serve(socket: Socket): void {
    this.link = socket;
    socket.on('error', () => undefined);
    const lines = createInterface({ input: socket }).on('error', () => undefined);
    lines.on('line', (text) => {
      const line = JSON.parse(text) as Line;
      this.lines.push(line);
      if (line.session !== undefined) this.say({ ready: true });
      else this.#heard(line);
    });
  }
}
