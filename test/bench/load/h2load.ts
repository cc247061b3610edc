import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fieldsOf, type Aim } from '../traffic.js';
import { checkAnswers } from './answers.js';

const STREAMS = 8;
const run = promisify(execFile);

/**
 * HTTP/2 over TLS, eight streams to a connection, one key for all: h2load can't change it. Gives how many were
 * answered.
 */
export async function h2load(aim: Aim, seconds: number): Promise<number> {
  const { port, traffic, tokens } = aim;
  const fields = Object.entries({ ...fieldsOf(aim), Authorization: `Bearer ${tokens[0] ?? ''}` }).flatMap(
    ([name, value]) => ['-H', `${name.toLowerCase()}: ${value}`],
  );
  const { stdout } = await run('h2load', [
    '-D',
    String(seconds),
    '-c',
    String(Math.max(1, traffic.connections / STREAMS)),
    '-m',
    String(STREAMS),
    ...fields,
    `https://127.0.0.1:${port}${traffic.target}`,
  ]);
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? Number.NaN);
  const good = number(/(\d+) 2xx/);
  const refused = number(/(\d+) 4xx/) + number(/(\d+) 5xx/);
  checkAnswers(aim, { good, refused, broken: number(/(\d+) errored/) });
  return good + refused;
}
