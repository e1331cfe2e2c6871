import type { Outcome } from './project/trial';
import { plain, type Paint, type Terminal } from './terminal';

const ofLevel: Readonly<Record<string, Paint>> = { error: 'red', warn: 'yellow' };

/** A dry run for a person: how it ended, what it said, what came out. */
export function wordsOf(outcome: Outcome, terminal: Terminal, sinceMs?: number): string {
  const { status, error, lines, duration_ms: tookMs } = outcome;
  const took =
    sinceMs === undefined ? `${tookMs} ms` : `${tookMs} ms, ${sinceMs} ms after the save`;
  const head =
    status === 'completed'
      ? `${terminal.paint('green', '✓')} completed ${terminal.paint('dim', `in ${took}`)}`
      : `${terminal.paint('red', '✗')} ${error?.code ?? 'failed'} ${error?.status ?? ''} ${terminal.paint('dim', `in ${took}`)}`;
  const output = lines.map(({ at, level, text, side }) => {
    const when = terminal.paint('dim', `${at.slice(11, 23)}${side ? ` ${side}` : ''}`);
    return `  ${when} ${terminal.paint(ofLevel[level] ?? 'cyan', level)} ${plain(text)}`;
  });
  return [
    head,
    ...output,
    ...(error ? reasonsOf(error, terminal) : []),
    ...resultsOf(outcome),
  ].join('\n');
}

function reasonsOf(error: NonNullable<Outcome['error']>, terminal: Terminal): string[] {
  const { message, title, detail, errors, stack = [], place, excerpt } = error;
  const words = [message ?? detail ?? title].filter((text) => typeof text === 'string');
  const members = Object.entries(errors ?? {}).map(
    ([name, texts]) => `${name}: ${[texts].flat().join(', ')}`,
  );
  const frames = stack.map(({ function: name, file, line, column }) => {
    const where = file === undefined ? 'the bundle' : `${file}:${line}:${column}`;
    return `at ${name === undefined ? where : `${name} (${where})`}`;
  });
  const at = place && frames.length === 0 ? [`at ${place.file}:${place.line}:${place.column}`] : [];
  const isSaid = (text: string): boolean => words.some((word) => text.endsWith(`: ${word}`));
  return [
    ...words.map((text) => `  ${terminal.paint('bold', plain(text))}`),
    ...members.filter((text) => !isSaid(text)).map((text) => `  ${plain(text)}`),
    ...[...frames, ...at].map((text) => `    ${plain(text)}`),
    ...(excerpt === undefined ? [] : ['', plain(excerpt).replace(/^/gm, '    ')]),
  ];
}

function resultsOf({ result, request, answer }: Outcome): string[] {
  const shown = result === undefined ? { request, answer } : result;
  const isEmpty = result === undefined && request === undefined && answer === undefined;
  return isEmpty ? [] : [plain(JSON.stringify(shown, null, 2))];
}
