import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { childrenOf, temporaryFolder } from '../servers/program.js';
import { exchangeRaw } from '../servers/raw.js';
import { until } from '../servers/until.js';

const AT_ONCE = 50;
const ROUNDS = 40;
const REQUEST = 'OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n';

/** The accident: Ctrl-S in the terminal in which the gateway shows each request. */
t.test('a terminal that stands still keeps no request waiting, and shows each line when it goes on', async (t) => {
  const program = `exec '${process.execPath}' '${join(packageRoot, 'dist/program/main.js')}' gateway`;
  const terminal = spawn('script', ['-qec', program, '/dev/null'], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      PETGATE_DATA: temporaryFolder(t),
      LOG_ACCESS: 'text',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let seen = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (seen += stripVTControlCharacters(text)));
  await until('it serves', () => /serving .*public=\S+:\d+/.test(seen));
  const [gateway] = childrenOf(terminal.pid!);
  t.teardown(async () => {
    process.kill(gateway!, 'SIGKILL');
    terminal.kill('SIGCONT');
    await once(terminal, 'close');
  });
  const port = Number(/public=\S+:(\d+)/.exec(seen)?.[1]);

  terminal.kill('SIGSTOP');
  let answered = 0;
  for (let round = 0; round < ROUNDS; round += 1)
    answered += (await exchangeRaw(port, REQUEST.repeat(AT_ONCE), AT_ONCE)).length;
  t.equal(answered, ROUNDS * AT_ONCE, 'each is answered');
  terminal.kill('SIGCONT');
  const lines = (): number => seen.match(/OPTIONS {2}\/v1\/pets +204 +\d+\.\d ms\r?\n/g)?.length ?? 0;
  await until('each line is there', () => lines() === ROUNDS * AT_ONCE);
});
