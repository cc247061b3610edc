import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openInTurn } from '../../src/shared/opening.js';
import { temporaryFolder } from '../servers/program.js';

const HOLDER = fileURLToPath(new URL('holder.js', import.meta.url));

t.test('nothing is opened while a process stands still for another opener, and may be going on already', async (t) => {
  const folder = temporaryFolder(t);
  const holder = fork(HOLDER, [folder]);
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder, 'message');
  holder.kill('SIGSTOP');
  const still = join(folder, `opening/still-${holder.pid}`);
  writeFileSync(still, String(process.ppid));
  t.throws(() => openInTurn(folder, () => 'open'), { message: /does not make way/ });
  writeFileSync(still, String(process.pid));
  t.equal(
    openInTurn(folder, () => 'open'),
    'open',
  );
});
