import t from 'tap';
import { ADMIN_TOKEN, startGateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { statusesOf } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { FLEETS, startFleet } from './fleets.js';
import { petgate, surroundings } from '../cli/programs.js';

const CREDITED = 200;
const REQUESTS = 300;
const PLANS = {
  prepaid: { limits: { balance: 'prepaid' }, ban: { after: 1 }, warn_at: [] },
  free: { limits: { minute: 60, day: 1_000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};

for (const fleet of FLEETS)
  t.test(`a customer spends what was credited, to the unit (${fleet.what})`, async (t) => {
    const upstream = await startUpstream(t);
    let served = 0;
    upstream.handle = (_seen, response) => {
      served += 1;
      response.end('[]');
    };
    const gateways = await startFleet(t, fleet, PLANS, upstream);
    const { admin } = gateways[0]!;
    const { body: customer } = await admin('POST', '/admin/v1/customers', { name: 'Big shop', plan: 'prepaid' });
    t.match(customer, { credited: 0 });
    const { id } = customer as { readonly id: string };
    const keys = await Promise.all(['web', 'app'].map((name) => gateways[0]!.createKey({ customer: id, name })));
    const ask = (n: number): Promise<Response> =>
      fetch(`${gateways[n % gateways.length]!.url}/rows`, {
        headers: { authorization: `Bearer ${keys[n % keys.length]!.key}` },
      });
    const credit = (body: object): ReturnType<typeof admin> => admin('POST', `/admin/v1/customers/${id}/credits`, body);

    const empty = await ask(0);
    t.match(await empty.json(), { code: 'balance_exhausted', status: 402 });
    t.equal(empty.headers.get('retry-after'), null, 'waiting does not help');
    t.match(await credit({ id: 'inv-7', units: CREDITED, note: 'invoice 7' }), {
      status: 201,
      body: { id: 'inv-7', units: CREDITED, note: 'invoice 7', sum: CREDITED },
    });
    t.match(await credit({ id: 'inv-7', units: CREDITED, note: 'invoice 7' }), {
      status: 200,
      body: { sum: CREDITED },
    });
    t.match(await credit({ id: 'inv-7', units: CREDITED + 1 }), { status: 409, body: { code: 'credit_exists' } });

    const first = await ask(0);
    t.equal(first.headers.get('ratelimit-policy'), `"balance";q=${CREDITED}`);
    t.equal(first.headers.get('ratelimit'), `"balance";r=${CREDITED - 1}`);
    t.equal(first.headers.get('x-ratelimit-remaining'), String(CREDITED - 1));
    t.equal(first.headers.get('x-ratelimit-reset'), String(Date.parse('9999-12-31T23:59:59Z') / 1_000));
    await first.text();
    const statuses = new Map<number, number>();
    await Promise.all(
      Array.from({ length: REQUESTS }, async (_, n) => {
        const response = await ask(n);
        await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }),
    );
    t.same([...statuses].sort(), [
      [200, CREDITED - 1],
      [402, REQUESTS - CREDITED + 1],
    ]);
    t.equal(served, CREDITED, 'the upstream saw no more');
    t.match(await credit({ id: 'back', units: -1 }), { status: 409, body: { code: 'conflict' } }, 'all of it is spent');
    t.match(await credit({ id: 'inv-8', units: 3 }), { status: 201, body: { sum: CREDITED + 3 } });
    t.match(await credit({ id: 'back', units: -2 }), { status: 201, body: { sum: CREDITED + 1 } });
    t.same([...statusesOf(await Promise.all([ask(0), ask(1), ask(2)]))].sort(), [200, 402, 402]);

    const { body: listed } = await admin('GET', `/admin/v1/customers/${id}/credits`);
    t.match(listed, { credits: [{ id: 'inv-7' }, { id: 'inv-8' }, { id: 'back', units: -2, sum: CREDITED + 1 }] });
    t.match(await admin('GET', `/admin/v1/customers/${id}`), { body: { credited: CREDITED + 1 } });
  });

t.test('credits are added and listed on the command line, for keys and customers', async (t) => {
  const gateway = await startGateway(t, { plans: PLANS });
  const environment = surroundings(gateway.dataFolder, {
    ...{ ADMIN_PORT: new URL(gateway.adminUrl).port, PETGATE_ADMIN_TOKEN: ADMIN_TOKEN },
  });
  const run = (...args: readonly string[]) => petgate(args, environment);
  const { body: customer } = await gateway.admin('POST', '/admin/v1/customers', { name: 'Big shop', plan: 'prepaid' });
  const key = await gateway.createKey({ name: 'web', plan: 'prepaid' });
  for (const { id } of [customer as { readonly id: string }, key]) {
    t.match(await run('credits', 'list', id), { code: 0, stdout: 'No credits.\n' });
    const added = await run('credits', 'add', id, '--id', 'inv-7', '--units', '10000', '--note', 'invoice 7');
    t.match(added, { code: 0, stdout: 'Credit inv-7 of 10000 units; the credits are 10000 units in all.\n' });
    t.match(await run('credits', 'list', id), { code: 0, stdout: /inv-7 +10000 +10000 .* invoice 7\n/ });
  }
  const free = await gateway.createKey({ name: 'free', plan: 'free' });
  t.match(await run('credits', 'add', free.id, '--id', 'inv-7', '--units', '1'), {
    code: 1,
    stderr: /plan "free" is not prepaid/,
  });
});
