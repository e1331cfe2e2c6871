interface Token {
  readonly kind: 'name' | 'string' | 'other';
  readonly text: string;
}

/**
 * Lists the modules that the code requires by literal calls of the free identifier `require`. Code
 * that binds the name itself, such as a bundle, is checked only when it runs.
 */
export function literalRequires(code: string): string[] {
  const tokens = tokensOf(code);
  const modules: string[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'name' || text !== 'require') continue;
    const before = tokens[at - 1];
    if (before?.text === '.' || before?.text === '?.') continue;
    const [open, name, close] = tokens.slice(at + 1, at + 4);
    if (binds(before, open)) return [];
    if (open?.text === '(' && name?.kind === 'string' && close?.text === ')') {
      modules.push(name.text.slice(1, -1));
    }
  }
  return modules;
}

const declaring = new Set(['var', 'let', 'const', 'function', 'class']);

/** Whether `require` is declared, is a parameter, or is passed on as an argument. */
function binds(before: Token | undefined, after: Token | undefined): boolean {
  if (before?.kind === 'name' && declaring.has(before.text)) return true;
  if (after?.text === '=>' || after?.text === '=') return true;
  const listed = before?.text === '(' || before?.text === ',' || before?.text === '...';
  return listed && (after?.text === ',' || after?.text === ')');
}

const blank = /(?:\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)/uy;
const string = /'(?:\\[\s\S]|[^'\\\n\r])*'|"(?:\\[\s\S]|[^"\\\n\r])*"/uy;
const plainTemplate = /`[^`\\$]*`/uy;
const templatePart = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/uy;
const word = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const number = /\.?\d[\w.]*/uy;
const regularExpression = /\/(?:\\[^\n\r]|\[(?:\\[^\n\r]|[^\]\\\n\r])*\]|[^/\\[\n\r])+\/[a-z]*/uy;
const sign = /=>|[=!]==?|\?\.|\.\.\.|[\s\S]/uy;

function tokensOf(code: string): Token[] {
  const tokens: Token[] = [];
  // One entry per open brace: true for the `${` of a template.
  const braces: boolean[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const text = pattern.exec(code)?.[0];
    if (text === undefined || text === '') return undefined;
    at += text.length;
    return text;
  };
  const add = (kind: Token['kind'], text: string): void => void tokens.push({ kind, text });
  const takeTemplate = (): void => {
    add('other', 'template');
    if (take(templatePart)?.endsWith('${')) braces.push(true);
  };

  while (at < code.length) {
    if (take(blank) !== undefined) continue;
    const text = take(string) ?? take(plainTemplate);
    if (text !== undefined) {
      add('string', text);
      continue;
    }
    const name = take(word);
    if (name !== undefined) {
      add('name', name);
      continue;
    }
    const other =
      take(number) ?? (beginsValue(tokens.at(-1)) ? take(regularExpression) : undefined);
    if (other !== undefined) {
      add('other', 'literal');
      continue;
    }
    const mark = take(sign) ?? '';
    if (mark === '`') takeTemplate();
    else if (mark === '}' && braces.pop()) takeTemplate();
    else add('other', mark);
    if (mark === '{') braces.push(false);
  }
  return tokens;
}

const beforeValue = new Set(
  'return typeof case in of delete void throw new instanceof do else yield await'.split(' '),
);

/** Whether a slash after this token begins a regular expression rather than divides. */
function beginsValue(before: Token | undefined): boolean {
  if (!before) return true;
  if (before.kind === 'name') return beforeValue.has(before.text);
  return before.kind === 'other' && ![')', ']', 'literal', 'template'].includes(before.text);
}
