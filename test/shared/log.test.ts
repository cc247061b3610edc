import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';

const run = (body: string): string => {
  const script = `const { createLog } = await import(${JSON.stringify(join(packageRoot, 'dist/src/shared/log.js'))}); ${body}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout;
};

t.test('every line is one JSON object with program, level and time, in order', (t) => {
  const lines = run("const log = createLog('test', 'info'); log.info({ a: 1 }, 'one'); log.debug('not this'); log.warn('two');").trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  t.strictSame(lines.map(({ msg }) => msg), ['one', 'two']);
  t.match(lines[0], { program: 'test', level: 'info', a: 1 });
  t.match(lines[0]?.['time'], /^\d{4}-\d\d-\d\dT/);
  t.end();
});

t.test('a line logged in the turn in which the process exits is not lost', (t) => {
  t.match(run("const log = createLog('test', 'info'); log.info('last words'); process.exit(3);"), /last words/);
  t.end();
});
