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

/** `text` in `style` on a terminal, bare elsewhere; NO_COLOR and FORCE_COLOR are heeded. */
export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  const noColor = process.env['NO_COLOR'] ?? '';
  const force = process.env['FORCE_COLOR'] ?? '';
  const wanted = force === '' ? stream.isTTY && noColor === '' && process.env['TERM'] !== 'dumb' : force !== '0';
  // Not every supported Node heeds the stream itself; validateStream is newer than the oldest of them.
  return wanted ? styleText(style, text) : text;
}

/** Formats a table. Numbers are right-aligned. */
export function table(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => String(row[column]).length)),
  );
  const line = (row: readonly (string | number)[]): string =>
    row
      .map((cell, column) =>
        typeof cell === 'number' ? String(cell).padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  const isNumber = headings.map((_, column) => typeof rows[0]?.[column] === 'number');
  const head = headings.map((heading, column) =>
    isNumber[column] === true ? heading.padStart(widths[column]!) : heading,
  );
  return [styled('bold', line(head)), ...rows.map(line)].join('\n');
}

/** Names and values below each other. */
export function keyValues(pairs: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${styled('dim', name.padEnd(width))}  ${value}`).join('\n');
}

/** "petgate keys list | head" closes the pipe early; that is not an error. Servers keep serving instead. */
export function endWithReader(error: NodeJS.ErrnoException): void {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
}
