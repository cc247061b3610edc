import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { LINES_DROPPED } from '../../src/shared/log-lines.js';
import { packageRoot } from '../../src/shared/package-root.js';

const LOG = JSON.stringify(join(packageRoot, 'dist/src/shared/log.js'));

const run = (body: string): string => {
  const script = `const { createLog } = await import(${LOG}); ${body}`;
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
    const turn = () => {
      for (let line = 0; line < 40; line += 1) log.info({ n: (n += 1), filler: 'x'.repeat(400) }, 'line');
      if (n < 4000) setTimeout(turn);
    };
    turn();`;
  const script = `const { createLog } = await import(${LOG}); ${body}`;
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

/** The accident: a container whose log driver stands still. */
t.test('a log that nobody reads keeps 9 MiB, drops the rest, and says how many when it goes on', async (t) => {
  const lines = join(packageRoot, 'dist/src/shared/log-lines.js');
  const script = `const { createLog } = await import(${LOG});
    const { writeLine, droppedLines } = await import(${JSON.stringify(lines)});
    const log = createLog('test', 'info');
    const filler = 'x'.repeat(500);
    let n = 0;
    const turn = () => {
      for (let line = 0; line < 200; line += 1)
        writeLine({ toString: () => JSON.stringify({ msg: 'access', n: (n += 1), filler }) + '\\n' });
      for (let line = 0; line < 4; line += 1) log.warn({ filler }, 'other');
      turns += 1;
      if (turns < 500) setImmediate(turn);
      else setImmediate(() => setImmediate(report));
    };
    let turns = 0;
    const report = () => process.send({ dropped: droppedLines(), rssBytes: process.memoryUsage().rss });
    process.on('message', () => { log.info('goes on'); process.disconnect(); });
    turn();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [{ dropped, rssBytes }] = (await once(child, 'message')) as [{ dropped: number; rssBytes: number }];
  t.ok(rssBytes < 150 * 2 ** 20, `${(rssBytes / 2 ** 20).toFixed(0)} MiB in use, of 56 that were written`);
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.send('go on');
  await once(child, 'close');
  const read = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const notices = read.filter(({ msg }) => msg === LINES_DROPPED);
  const sum = (name: string): number => notices.reduce((total, notice) => total + Number(notice[name]), 0);
  const bytesOf = (msg: string): number =>
    read.filter((line) => line['msg'] === msg).reduce((bytes, line) => bytes + JSON.stringify(line).length + 1, 0);
  t.equal(sum('accessLines') + read.filter(({ msg }) => msg === 'access').length, 100_000, 'each is there or counted');
  t.equal(sum('otherLines') + read.filter(({ msg }) => msg === 'other').length, 2000, 'of the others, too');
  t.equal(sum('accessLines') + sum('otherLines'), dropped, 'as the metric says');
  t.ok(bytesOf('access') < 8.2 * 2 ** 20, `${bytesOf('access')} bytes of access lines waited`);
  t.ok(bytesOf('other') > 2 ** 20 - 10_000, `${bytesOf('other')} bytes of warnings had room`);
  t.match(notices[0], { level: 'warn', program: 'test', since: /^\d{4}-/ });
  t.equal(read.slice(read.indexOf(notices[0]!)).filter(({ msg }) => msg === 'access').length, 0, 'behind what waited');
});
