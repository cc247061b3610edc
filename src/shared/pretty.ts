import { styleText } from 'node:util';

const SHOWN_ELSEWHERE = new Set(['level', 'time', 'program', 'pid', 'msg']);
const STYLES = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const;

/** A JSON log line as a person likes it on a terminal: time, level, program, message, then the rest that says something. */
export function prettyLine(line: string): string {
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { level = 'info', time = '', program = '', msg = '' } = fields as Readonly<Record<string, string>>;
  const style = level in STYLES ? STYLES[level as keyof typeof STYLES] : 'dim';
  const rest = Object.entries(fields)
    .filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null)
    .map(
      ([name, value]) =>
        `${styleText('dim', `${name}=`)}${plain(typeof value === 'string' ? value : JSON.stringify(value))}`,
    );
  return (
    `${styleText('dim', time.slice(11, 23))} ${styleText(style, level.padEnd(5))} ${program} ${plain(msg)} ${rest.join(' ')}`.trimEnd() +
    '\n'
  );
}

/** Without control characters: what strangers sent must not steer the terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}
