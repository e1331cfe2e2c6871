import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(__dirname, '../../..');
const folders = ['acceptance', 'apps', 'bench', 'docker', 'docs', 'k8s', 'libs', 'tools'];

/** The files of the repository that are not built or installed. */
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => !/(?:^|\/)(?:node_modules|dist|secrets)\//.test(file)),
);

const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...files.filter((file) => file.endsWith('.md')),
];

/** Those of a folder of files that an author deploys. */
const isOfAuthors = (path: string): boolean =>
  /^(?:(?:reactors|proxies)\/[\w-]+\/)?(?:code|request|response)\.[jt]s$/.test(path);

/** A name to fill in, and files that a command or an author makes. */
const isMade = (path: string): boolean =>
  /NNNN|^(?:docker|k8s\/overlays\/local)\/secrets/.test(path) || isOfAuthors(path);

/** Names that stand for others, and those of a product. */
const isNoFile = (path: string): boolean => /NAME|NNNN|^Node\.js$/.test(path) || isOfAuthors(path);

const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const proseOf = (page: string): string => textOf(page).replaceAll(/^( *)```[^]*?^\1```$/gm, '');

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documents', () => {
  it('link to files and headings that exist', () => {
    const broken = pages.flatMap((page) =>
      [...proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
        .filter(([, path = '', anchor]) => {
          const target = path === '' ? page : relative(root, join(root, dirname(page), path));
          if (!existsSync(join(root, target))) return true;
          return anchor !== undefined && !anchorsOf(target).includes(anchor);
        })
        .map(([link]) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('name files and folders that exist', () => {
    const known = new Set(files);
    const endings = new Set(files.flatMap(endingsOf));
    const missing = pages.flatMap((page) =>
      [...proseOf(page).matchAll(/`([\w@.-]+(?:\/[\w@.-]+)*\/?)`/g)]
        .map(([, path = '']) => path.replace(/\/$/, ''))
        .filter((path) => !isMade(path))
        .filter((path) => folders.includes(path.split('/')[0] ?? '') || /\.(?:ts|c)$/.test(path))
        .filter((path) => !known.has(path) && !endings.has(path) && !isFolder(path))
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('and the comments of the code name files that exist', () => {
    const known = new Set([...files, ...files.flatMap(endingsOf)]);
    const sources = files.filter((file) => /\.(?:ts|mjs|cjs|js|c)$/.test(file));
    const missing = sources.flatMap((source) =>
      commentsOf(textOf(source))
        .flatMap((comment) => [...comment.matchAll(filesInComments)].map(([path]) => path))
        .filter((path) => !isNoFile(path) && !known.has(path) && !existsSync(join(root, path)))
        .map((path) => `${source}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('list every decision in docs/adr/README.md', () => {
    const index = textOf('docs/adr/README.md');
    const decisions = readdirSync(join(root, 'docs/adr')).filter((file) => file !== 'README.md');
    const titles = decisions.map((file) => {
      const [, title = ''] = /^# \d{4} (.*)$/m.exec(textOf(`docs/adr/${file}`)) ?? [];
      return `[${title}](${file})`;
    });
    expect(titles.filter((title) => !index.includes(title))).toEqual([]);
  });

  it('tell in docs/architecture.md where each file is from the root', () => {
    const text = proseOf('docs/architecture.md');
    const named = [...text.matchAll(/`([\w./-]+\.(?:ts|c))`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !files.includes(path))).toEqual([]);
  });
});

/** Neither part of a path that begins with a dot nor of a pattern, and no `import('./types.js')`. */
const filesInComments =
  /(?<![\w@./*-])(?:[\w@-]+\/)*[\w-][\w.-]*\.(?:ts|mjs|cjs|js|c|md)(?![\w(])/g;

const commentsOf = (code: string): string[] =>
  code
    .split('\n')
    .map((line) => /^\s*(?:\/?\*|\/\/)(.*)|\s\/\/ (.*)/.exec(line)?.slice(1).join('') ?? '')
    .filter((comment) => comment !== '');

const isFolder = (path: string): boolean =>
  existsSync(join(root, path)) && statSync(join(root, path)).isDirectory();

/** A page may name a file by the end of its path: `proxy/fill-in.ts`. */
function endingsOf(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, at) => parts.slice(at).join('/'));
}
