import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { freePort } from '../servers/free-port.js';
import { startProgram, temporaryFolder } from '../servers/program.js';
import { until } from '../servers/until.js';
import { examplesOf } from './guides/examples.js';

const run = promisify(execFile);

/** What is another at each run. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/ptg_development_\w+/g, 'KEY'],
  [/^[0-9A-Za-z]{12}(?= )/gm, 'ID'],
  [/\d{4}-\d\d-\d\d/g, 'DATE'],
  [/(?<=^(?:X-RateLimit-Reset|Retry-After|X-Request-Id): ).*/gm, '…'],
  [/(?<=;t=)\d+/g, '…'],
  [/(?<=http:\/\/127\.0\.0\.1:)\d+/g, '…'],
  [/\(\d+\.\d s\)/g, '(…)'],
  [/(?<=^Data: ).*/gm, '…'],
];
const steady = (text: string): string => CHANGING.reduce((masked, [what, by]) => masked.replace(what, by), text);

/** The lines that are not in the answer. Keys are listed by their ids, so that the order is another at each run. */
function missing(shown: readonly string[], answer: string): readonly string[] {
  const lines = new Set(steady(answer).split(/\r?\n/));
  return shown.filter((line) => !lines.has(steady(line)));
}

/** The lines that a gateway in front of another API does not show. */
async function missingOfStart(t: Test, shown: readonly string[]): Promise<readonly string[]> {
  const environment = { PORT: '0', ADMIN_PORT: '0', PETGATE_DATA: temporaryFolder(t) };
  const program = startProgram(['start', '--upstream', 'http://localhost:3000'], environment);
  t.teardown(() => program.stop());
  await until('petgate start is ready', () => /Ctrl-C/.test(program.output()));
  return missing(shown, program.output());
}

t.test('what the README shows is what a new user sees', async (t) => {
  const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
  const [front, store, ...examples] = examplesOf(readme);
  t.equal(front?.command, 'npm start -- --upstream http://localhost:3000');
  t.equal(store?.command, 'npm start');
  t.equal(examples.length, 4, 'the examples were found');
  const [port, adminPort, petsPort] = [await freePort(), await freePort(), await freePort()];
  const environment = {
    PORT: `${port}`,
    ADMIN_PORT: `${adminPort}`,
    PETS_PORT: `${petsPort}`,
    PETGATE_DATA: temporaryFolder(t),
  };
  const program = startProgram(['start'], environment);
  t.teardown(() => program.stop());
  await until('petgate start is ready', () => /Ctrl-C/.test(program.output()));
  t.strictSame(missing(store!.shown, program.output()), [], store!.command);
  t.strictSame(await missingOfStart(t, front!.shown), [], front!.command);
  const [KEY = ''] = /ptg_\w+/.exec(program.output()) ?? [];
  const cli = `'${process.execPath}' '${join(packageRoot, 'dist/program/main.js')}'`;
  for (const { command, shown } of examples) {
    const line = command.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`).replaceAll('./petgate', cli);
    const env = { PATH: process.env['PATH'], KEY, ...environment };
    const { stdout } = await run('bash', ['-c', line], { env });
    t.strictSame(missing(shown, stdout), [], command);
  }
});
