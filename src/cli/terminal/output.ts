import { styleText } from 'node:util';

/** Writes one line to standard output. */
export function say(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Writes `value` as JSON for programs. */
export function sayJson(value: unknown): void {
  say(JSON.stringify(value, null, 2));
}

type Style = Parameters<typeof styleText>[0];

/** Returns `text` in `style` on a terminal, plain elsewhere. Respects NO_COLOR and FORCE_COLOR. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const noColor = process.env['NO_COLOR'] ?? '';
  const force = process.env['FORCE_COLOR'] ?? '';
  const wanted = force === '' ? stream.isTTY && noColor === '' && process.env['TERM'] !== 'dumb' : force !== '0';
  // Decided here because `validateStream` of styleText is newer than the oldest supported Node.
  return wanted ? styleText(style, text) : text;
}

/** Formats a table. Numbers are right-aligned. */
export function table(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => String(row[column]).length)),
  );
  const pad = (cell: string | number, column: number, isNumber = typeof cell === 'number'): string =>
    isNumber ? String(cell).padStart(widths[column]!) : String(cell).padEnd(widths[column]!);
  const head = headings.map((heading, column) => pad(heading, column, typeof rows[0]?.[column] === 'number'));
  const body = rows.map((row) => row.map((cell, column) => pad(cell, column)));
  const [first = '', ...others] = [head, ...body].map((cells) => cells.join('  ').trimEnd());
  return [styled('bold', first), ...others].join('\n');
}

/** Formats names and values, a line for each pair. */
export function keyValues(pairs: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${styled('dim', name.padEnd(width))}  ${value}`).join('\n');
}

/** Ends the process when nobody reads its output, as in `petgate keys list | head`, or when it cannot be written. */
export function endWithReader({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit(0);
  process.stderr.write(`error: The output can't be written (${code ?? 'unknown reason'}).\n`);
  process.exit(1);
}
