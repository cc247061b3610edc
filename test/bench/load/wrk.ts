import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/shared/package-root.js';
import { bodyOf, fieldsOf, type Aim } from '../traffic.js';
import { checkAnswers } from './answers.js';

/** On a machine that is busy with something else an answer may take long, and is one all the same. */
const TIMEOUT = '30s';
const SCRIPT = join(packageRoot, 'test/bench/load/wrk.lua');
const run = promisify(execFile);

/** HTTP/1.1, each connection sends its next request when the last was answered. Gives how many were answered. */
export async function wrk(aim: Aim, seconds: number, folder: string): Promise<number> {
  const { port, tls, traffic, tokens } = aim;
  const [tokenFile, bodyFile] = [join(folder, 'tokens'), join(folder, 'body')];
  writeFileSync(tokenFile, tokens.join('\n'));
  writeFileSync(bodyFile, bodyOf(traffic));
  // wrk tells the length itself.
  const fields = Object.entries(fieldsOf(aim))
    .filter(([name]) => name !== 'Content-Length')
    .map(([name, value]) => `${name}: ${value}`);
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}${traffic.target}`;
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${traffic.connections}`,
    `-d${seconds}s`,
    '--timeout',
    TIMEOUT,
    '-s',
    SCRIPT,
    url,
    '--',
    tokenFile,
    traffic.method,
    bodyFile,
    ...fields,
  ]);
  const { requests, refused, broken } = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
    requests: number;
    refused: number;
    broken: number;
  };
  checkAnswers(aim, { good: requests - refused, refused, broken });
  return requests;
}
