import t from 'tap';
import { petgate, surroundings } from '../../../cli/programs.js';
import { ADMIN_TOKEN, startGateway } from '../../../servers/gateway.js';
import { startRedis } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { visitorOf } from '../../console/visitor.js';
import { listen } from '../../admin/listener.js';

interface Listed {
  readonly self: Readonly<Record<string, string>>;
  readonly others:
    | readonly { readonly host: string; readonly version: string | null; readonly differs: string[] }[]
    | null;
}

t.test('gateways on one store say what they run by, and each sees what differs', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const environment = { REDIS_URL: redis.url };
  const [one, same] = [await startGateway(t, { environment }), await startGateway(t, { environment })];
  const listed = async (): Promise<Listed> => (await one.admin('GET', '/admin/v1/gateways')).body as Listed;
  const heard = (count: number): Promise<void> =>
    until(`${count} others are heard`, async () => (await listed()).others?.length === count);
  await heard(1);
  const { self, others } = await listed();
  t.match(self, {
    version: /^\d+\.\d+\.\d+/,
    settings: /^[0-9a-f]{8}$/,
    plans: /^[0-9a-f]{8}$/,
    contract: /^[0-9a-f]{8}$/,
  });
  t.match(others, [{ ...self, differs: [] }]);
  const visitor = visitorOf(Number(new URL(one.adminUrl).port));
  await visitor.signIn(ADMIN_TOKEN);
  t.match((await visitor.get('/console/settings')).text, 'No differences from this gateway are known');

  await startGateway(t, { environment, config: { limits: { body_size: '2MiB' } } });
  await heard(2);
  const old = `20000|${Date.now()}|told|old-host`;
  await redis.command('HSET', 'petgate:gateways:days', 'of-0.3', old);
  await heard(3);
  const found = (await listed()).others!;
  t.same(found.map(({ differs }) => differs.join()).sort(), ['', '', 'settings']);
  t.match(
    found.find(({ host }) => host === 'old-host'),
    { version: null, differs: [] },
    'of an older version nothing is known to differ',
  );
  const { text } = await visitor.get('/console/settings');
  t.match(text, /1 of 3 run something else than this one/);
  t.match(text, 'not reported');
  const to = { ADMIN_PORT: new URL(one.adminUrl).port, PETGATE_ADMIN_TOKEN: ADMIN_TOKEN };
  const { code, stdout } = await petgate(['gateways', 'list'], surroundings(one.dataFolder, to));
  t.equal(code, 0);
  t.match(stdout, /^gateway +host +seen +version +settings +plans +contract +differs\nthis one /);
  await same.program.stop();
  const speaking = async (): Promise<number | undefined> =>
    (await listed()).others?.filter(({ version }) => version !== null).length;
  t.equal(await speaking(), 1, 'who has left is no more listed');
});

t.test('an embedded store has no other gateways', async (t) => {
  const { ask } = await listen(t);
  t.match((await ask('GET', '/admin/v1/gateways')).json, { self: { plans: 'aa11' }, others: [] });
});
