import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startGateway } from '../servers/gateway.js';
import { startProgram, temporaryFolder } from '../servers/program.js';

t.test('an empty PETGATE_ADMIN_TOKEN is none: the API asks for the one in the data folder', async (t) => {
  const { adminUrl } = await startGateway(t, { environment: { PETGATE_ADMIN_TOKEN: '', PETGATE_INTERNAL_TOKEN: '' } });
  for (const authorization of ['Bearer', 'Bearer ', 'Bearer \u00a0', 'Basic Og==', 'Basic dXNlcjo=']) {
    const answer = await fetch(`${adminUrl}/admin/v1/usage`, { headers: { authorization } });
    t.equal(answer.status, 401, authorization);
  }
});

t.test('a token that can be guessed refuses the start, and says what to do', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'admin-token'), '\n');
  for (const [environment, says] of [
    [{ PETGATE_ADMIN_TOKEN: 'short' }, /PETGATE_ADMIN_TOKEN must have 16 characters or more\. Set one such as/],
    [{ PETGATE_INTERNAL_TOKEN: 'short' }, /PETGATE_INTERNAL_TOKEN must have 16/],
    [{}, /the file admin-token in .* is empty\. Remove it and start again/],
  ] as const) {
    const program = startProgram(['gateway'], {
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      PETGATE_DATA: folder,
      ...environment,
    });
    t.teardown(() => program.stop('SIGKILL'));
    t.equal((await program.exited).code, 1);
    t.match(program.output(), says);
  }
});
