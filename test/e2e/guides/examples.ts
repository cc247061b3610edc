/** A command of a page, and the lines that it shows of the output. */
interface Example {
  readonly command: string;
  readonly shown: readonly string[];
}

/** Those of its `console` blocks, where a command stands behind `$ `, and of its `sh` blocks, which show no output. */
export function examplesOf(page: string): readonly Example[] {
  const blocks = [...page.matchAll(/^```(console|sh)\n([^]*?)^```$/gm)];
  return blocks.flatMap(([, kind, block = '']) => {
    const text = block.replaceAll('\\\n', ' ');
    return kind === 'sh' ? text.split('\n').filter(isCommand).map(alone) : text.split(/^\$ /m).flatMap(withOutput);
  });
}

function isCommand(line: string): boolean {
  return line !== '' && !line.startsWith('#');
}

function alone(command: string): Example {
  return { command, shown: [] };
}

function withOutput(text: string): readonly Example[] {
  const [command = '', ...shown] = text.split('\n');
  return command === '' ? [] : [{ command, shown: shown.filter((line) => line !== '') }];
}

/**
 * The shown lines that `output` has not, whatever their ids, times and figures are: of a word with a digit in it any
 * word will do, and `…` stands for any text.
 */
export function missingIn(output: string, shown: readonly string[]): readonly string[] {
  const lines = output.split(/\r?\n/);
  return shown.filter((line) => {
    const pattern = patternOf(line);
    return line !== '…' && !lines.some((each) => pattern.test(each));
  });
}

function patternOf(line: string): RegExp {
  const pattern = line
    .trimEnd()
    .split(/(\s+|…|[,;"])/)
    .map((part) => {
      if (part === '…') return '.*';
      if (/^\s+$/.test(part)) return '\\s+';
      return /\d/.test(part) ? '[^\\s,;"]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    });
  return new RegExp(`^${pattern.join('')}\\s*$`);
}
