import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { startProgram, temporaryFolder } from '../servers/program.js';
import { redisFor } from '../servers/redis.js';
import { until } from '../servers/until.js';

t.test('an empty PETGATE_ADMIN_TOKEN is none: the API asks for the one in the data folder', async (t) => {
  const { adminUrl } = await startGateway(t, { environment: { PETGATE_ADMIN_TOKEN: '', PETGATE_INTERNAL_TOKEN: '' } });
  for (const authorization of ['Bearer', 'Bearer ', 'Bearer \u00a0', 'Basic Og==', 'Basic dXNlcjo=']) {
    const answer = await fetch(`${adminUrl}/admin/v1/usage`, { headers: { authorization } });
    t.equal(answer.status, 401, authorization);
  }
});

t.test('an empty admin-token refuses the start, and says what to do', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'admin-token'), '\n');
  const program = startProgram(['gateway'], { PORT: '0', ADMIN_PORT: '0', PETGATE_DATA: folder });
  t.teardown(() => program.stop('SIGKILL'));
  t.equal((await program.exited).code, 1);
  t.match(program.output(), /the file admin-token in .* is empty\. Remove it and start again/);
});

async function statusOf({ adminUrl }: Gateway, token: string): Promise<number> {
  const answer = await fetch(`${adminUrl}/admin/v1/keys`, { headers: { authorization: `Bearer ${token}` } });
  await answer.text();
  return answer.status;
}

async function createToken({ admin }: Gateway): Promise<{ id: string; token: string }> {
  const { status, body } = await admin('POST', '/admin/v1/tokens', { name: 'reader', role: 'read' });
  if (status !== 201) throw new Error(`no token: ${status} ${JSON.stringify(body)}`);
  return body as { id: string; token: string };
}

t.test('a token made or revoked on gateway A is good or bad on the very next request on gateway B', async (t) => {
  const redis = await redisFor(t);
  const start = (): Promise<Gateway> =>
    startGateway(t, { environment: { REDIS_URL: redis.url, PETGATE_WORKERS: '2' } });
  const [a, b] = await Promise.all([start(), start()]);
  for (let n = 0; n < 5; n += 1) {
    const { id, token } = await createToken(a);
    t.same([await statusOf(b, token), await statusOf(a, token)], [200, 200]);
    t.equal((await a.admin('DELETE', `/admin/v1/tokens/${id}`)).status, 204);
    t.same([await statusOf(b, token), await statusOf(a, token)], [401, 401]);
  }
  const { token } = await createToken(b);
  const stored = JSON.stringify(await redis.command('HGETALL', 'petgate:tokens'));
  t.match(stored, 'reader');
  t.notMatch(stored, token.slice(-32), 'Redis has its hash alone');
  await redis.stop();
  await until('the store is unavailable', async () => (await statusOf(a, token)) === 503);
  t.equal((await a.admin('GET', '/admin/v1/openapi.json')).status, 200, 'the token of the environment needs no store');
});

t.test('tokens outlive the gateway, and one that was revoked stays so', async (t) => {
  const dataFolder = temporaryFolder(t);
  const first = await startGateway(t, { dataFolder });
  const [kept, revoked] = [await createToken(first), await createToken(first)];
  t.equal((await first.admin('DELETE', `/admin/v1/tokens/${revoked.id}`)).status, 204);
  await first.program.stop('SIGKILL');
  const next = await startGateway(t, { dataFolder });
  t.same([await statusOf(next, kept.token), await statusOf(next, revoked.token)], [200, 401]);
});
