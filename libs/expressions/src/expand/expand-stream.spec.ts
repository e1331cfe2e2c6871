import { Readable } from 'node:stream';
import { Budget, expandStream, Tally } from '../index';
import { jsonTemplate } from '../spec-bodies';
import type { StreamOptions } from './expand-stream';

const values = new Map<string, unknown>([
  ['card_1', { number: '4242' }],
  ['name', 'a"é'],
]);

function options(context: StreamOptions['context'], asked: string[][] = []): StreamOptions {
  const resolve: StreamOptions['resolve'] = (ids) => {
    asked.push([...ids]);
    return Promise.resolve(values);
  };
  return { context, tally: new Tally(), budget: new Budget(), resolve };
}

async function expanded(
  body: string | Buffer,
  using: StreamOptions,
  chunkBytes = 65_536,
): Promise<Buffer> {
  const bytes = Buffer.from(body);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) =>
    bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes),
  );
  const parts: Buffer[] = [];
  for await (const part of expandStream(Readable.from(chunks), using)) parts.push(part);
  return Buffer.concat(parts);
}

const json = '{"é\\"":"{{card_1}}" , "{{name}}" : [ "{{ name }}x","\\\\" ], "z":"\\u00e9{{"}';

describe('a streamed body', () => {
  it.each([1, 2, 3, 5, 7, 64])(
    'gives the same in chunks of %d bytes as in one',
    async (chunkBytes) => {
      const whole = jsonTemplate(json).render(values);
      expect((await expanded(json, options('json'), chunkBytes)).toString()).toBe(whole);
      const form = 'a=%7B%7B+name+%7d%7D&b={{name}}é&c=%7B%7';
      expect((await expanded(form, options('form'), chunkBytes)).toString()).toBe(
        'a=a%22%C3%A9&b=a%22%C3%A9é&c=%7B%7',
      );
      expect((await expanded('é{{name}}é{', options('text'), chunkBytes)).toString()).toBe(
        'éa"éé{',
      );
    },
  );

  it('asks for the tokens of a batch at once, and only for those', async () => {
    const asked: string[][] = [];
    const filler = 'x'.repeat(100_000);
    const body = `["{{name}}","{{card_1}}","{{name}}","${filler}","{{name}}"]`;
    await expanded(body, options('json', asked), 1_000);
    expect(asked).toEqual([['name', 'card_1'], ['name']]);
  });

  it('asks for nothing without an expression', async () => {
    const asked: string[][] = [];
    await expanded('{"a":"{ { }}"}', options('json', asked), 2);
    expect(asked).toEqual([]);
  });

  it('passes on bytes without expressions before the source has ended', async () => {
    async function* source(): AsyncGenerator<Buffer> {
      yield Buffer.from('first');
      await new Promise(() => undefined);
    }
    const stream = expandStream(source(), options('text'));
    expect((await stream[Symbol.asyncIterator]().next()).value?.toString()).toBe('firs');
  });

  it('counts expressions and bytes like a whole one', async () => {
    const many = '{{name}}'.repeat(1_001);
    await expect(expanded(many, options('text'))).rejects.toThrow(/at most 1000 expressions/);
    const budget = new Budget();
    const large = new Map([['name', 'x'.repeat(1024 * 1024)]]);
    const using = { ...options('text'), budget, resolve: () => Promise.resolve(large) };
    await expect(expanded('{{name}}'.repeat(11), using)).rejects.toMatchObject({ status: 413 });
  });

  it('is refused when it is JSON but not UTF-8, at its end too', async () => {
    for (const bytes of [Buffer.from('"\xff"', 'latin1'), Buffer.from('"\xc3', 'latin1')]) {
      await expect(expanded(bytes, options('json'), 1)).rejects.toMatchObject({
        code: 'invalid_json',
      });
    }
  });

  it('stays in its encoding when it is text', async () => {
    const result = await expanded(Buffer.from('caf\xe9 {{name}}', 'latin1'), options('text'), 3);
    expect(result).toEqual(Buffer.concat([Buffer.from('caf\xe9 ', 'latin1'), Buffer.from('a"é')]));
  });

  it.each(['text', 'json', 'form'] as const)(
    'refuses an expression above 4 KB in %s once it is closed; open it is text',
    async (context) => {
      const quote = context === 'json' ? '"' : '';
      const open = `${quote}{{ ${'a}'.repeat(5_000)}`;
      const closed = `${open}}${quote}`;
      await expect(expanded(closed, options(context), 100)).rejects.toThrow(
        `character ${quote.length} is longer than 4096 bytes`,
      );
      expect((await expanded(`${open}-${quote}`, options(context), 100)).toString()).toBe(
        `${open}-${quote}`,
      );
    },
  );

  it('keeps an open expression above 4 KB as text until its string or field ends', async () => {
    const rest = ' '.repeat(5_000);
    const strings = `["{{${rest}","}}{{name}}"]`;
    expect((await expanded(strings, options('json'), 100)).toString()).toBe(
      `["{{${rest}","}}a\\"é"]`,
    );
    const fields = `a={{${rest}&b=}}{{name}}`;
    expect((await expanded(fields, options('form'), 100)).toString()).toBe(
      `a={{${rest}&b=}}a%22%C3%A9`,
    );
  });

  it('refuses more white space behind a whole string than it may hold back', async () => {
    const body = `["{{card_1}}"${' '.repeat(100_000)}]`;
    await expect(expanded(body, options('json'), 1_000)).rejects.toThrow(/white space/);
  });

  it('passes on an error of its source', async () => {
    async function* source(): AsyncGenerator<Buffer> {
      yield Buffer.from('{{na');
      throw new Error('reset');
    }
    const read = async (): Promise<void> => {
      for await (const part of expandStream(source(), options('text'))) expect(part).toBeDefined();
    };
    await expect(read()).rejects.toThrow('reset');
  });
});

describe('a body of 20 MB', () => {
  const unit = {
    json: `{"name":"some \\"text\\"","open":"{{","list":[1,2.5,{"a":"}}"}]},`,
    form: 'name=some+text&open={{&close=%7D%7D&',
    text: 'some text with } and { and }} in it\n',
  };

  it.each(['json', 'form', 'text'] as const)(
    'of %s is read with flat memory and in time that grows with the length',
    async (context) => {
      const block = Buffer.from(unit[context].repeat(Math.ceil(65_536 / unit[context].length)));
      const read = async (megabytes: number): Promise<{ ms: number; held: number }> => {
        const blocks = Math.ceil((megabytes * 1024 * 1024) / block.length);
        let ahead = 0;
        let held = 0;
        let count = 0;
        async function* source(): AsyncGenerator<Buffer> {
          for (let i = 0; i < blocks; i += 1) {
            ahead += block.length;
            yield block;
          }
        }
        const startedAt = performance.now();
        for await (const part of expandStream(source(), options(context))) {
          count += part.length;
          ahead -= part.length;
          held = Math.max(held, ahead);
        }
        expect(count).toBe(blocks * block.length);
        return { ms: performance.now() - startedAt, held };
      };
      await read(1);
      const [small, large] = [await read(5), await read(20)];
      expect(large.held).toBeLessThan(256 * 1024);
      expect(large.ms).toBeLessThan(20 * small.ms + 2_000);
    },
  );
});
