import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

const run = (body: string): string => {
  const script = `const { createLog } = await import(${JSON.stringify(join(packageRoot, 'dist/src/shared/log.js'))}); ${body}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout;
};

t.test('every line is one JSON object with program, level and time, in order', (t) => {
  const lines = run(
    "const log = createLog('test', 'info'); log.info({ a: 1 }, 'one'); log.debug('not this'); log.warn('two');",
  )
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.strictSame(
    lines.map(({ msg }) => msg),
    ['one', 'two'],
  );
  t.match(lines[0], { program: 'test', level: 'info', a: 1 });
  t.match(lines[0]?.['time'], /^\d{4}-\d\d-\d\dT/);
  t.end();
});

t.test('a line logged in the turn in which the process exits is not lost', (t) => {
  t.match(run("const log = createLog('test', 'info'); log.info('last words'); process.exit(3);"), /last words/);
  t.end();
});

t.test("processes that write to one pipe do not tear each other's lines", async (t) => {
  // The reader is slow at first, so that the pipe fills up, and a turn has more lines than one write may hold.
  const body = `const log = createLog('test', 'info'); let n = 0;
    const turn = () => { for (let line = 0; line < 40; line += 1) log.info({ n: (n += 1), filler: 'x'.repeat(400) }, 'line'); if (n < 4000) setTimeout(turn); };
    turn();`;
  const script = `const { createLog } = await import(${JSON.stringify(join(packageRoot, 'dist/src/shared/log.js'))}); ${body}`;
  const shell = spawn(
    'sh',
    [
      '-c',
      '("$0" --input-type=module -e "$1" & "$0" --input-type=module -e "$1" & wait) | { sleep 0.3; cat; }',
      process.execPath,
      script,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(shell, 'close');
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => {
      try {
        return JSON.parse(line) as { pid: number; n: number };
      } catch {
        return null;
      }
    });
  t.equal(lines.filter((line) => line === null).length, 0, 'every line is whole');
  t.equal(lines.length, 8000, 'none is missing');
  const pids = new Set(lines.map((line) => line?.pid));
  t.equal(pids.size, 2);
  for (const pid of pids)
    t.ok(
      lines.filter((line) => line?.pid === pid).every((line, index) => line?.n === index + 1),
      'the lines of each are in order',
    );
});
