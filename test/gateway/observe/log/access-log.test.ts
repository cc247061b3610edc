import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { ledgerOf } from '../../../e2e/ledger.js';
import { scrape } from '../../../servers/exposition.js';
import { startGateway } from '../../../servers/gateway.js';
import { exchangeRaw } from '../../../servers/raw.js';
import { startRedis } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { startUpstream } from '../../../servers/upstream.js';

const FIELDS = [
  'level',
  'time',
  'program',
  'pid',
  'request',
  'trace',
  'span',
  'http',
  'method',
  'operation',
  'key',
  'customer',
  'plan',
  'outcome',
  'code',
  'credential',
  'address',
  'status',
  'bytes',
  'ms',
  'admissionMs',
  'upstreamMs',
  'counted',
  'units',
  'admittedAt',
  'decidedAt',
  'cost',
  'contractCost',
  'windows',
  'ban',
  'local',
  'msg',
];
const ODD = `"\\{}'\u00e9`;

t.test('every exchange is one line of JSON with the same fields, whatever a client sends', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    config: { trusted_proxies: ['127.0.0.1'] },
    environment: { PETS_URL: upstream.url },
  });
  const { id, key } = await gateway.createKey({ plan: 'pro' });
  const bearer = `Authorization: Bearer ${key}\r\n`;
  const requests = [
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}X-Request-Id: mine-1\r\n\r\n`,
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}X-Request-Id: ${ODD}\r\n\r\n`,
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}traceparent: 00-${ODD}\r\n\r\n`,
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}X-Forwarded-For: ${ODD}\r\n\r\n`,
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}X-Forwarded-For: fe80::1%"x\r\n\r\n`,
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ODD}\r\n\r\n`,
    `GET /v1/${ODD} HTTP/1.1\r\nHost: x\r\n${bearer}\r\n`,
    `PROPFIND /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}\r\n`,
    `"ODD" /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}\r\n`,
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${bearer}X-Odd: \u0001\r\n\r\n`,
    'rubbish\r\n\r\n',
  ];
  for (const bytes of requests) await exchangeRaw(gateway.port, Buffer.from(bytes, 'latin1'), 1);
  const lines = (): readonly string[] =>
    gateway.program
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"exchange"'));
  await until('all are logged', () => lines().length === requests.length);
  const records = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const record of records) t.strictSame(Object.keys(record), FIELDS);
  t.match(records[0], {
    level: 'info',
    program: 'gateway',
    pid: gateway.program.pid,
    request: 'mine-1',
    http: '1.1',
    method: 'GET',
    operation: 'listPets',
    key: id,
    plan: 'pro',
    outcome: 'admitted',
    code: null,
    keyId: null,
    credential: null,
    address: '127.0.0.1',
    status: 200,
    bytes: 2,
    counted: true,
    units: 1,
    customer: null,
    cost: 1,
    contractCost: 1,
    windows: { minute: [300, 299, 60_000], day: [10_000, 9_999, Number] },
    ban: null,
    local: false,
  });
  t.equal(records[0]?.['decidedAt'], records[0]?.['admittedAt']);
  const { rawHeaders } = upstream.seen[0]!;
  t.equal(
    rawHeaders[rawHeaders.indexOf('traceparent') + 1],
    `00-${String(records[0]?.['trace'])}-${String(records[0]?.['span'])}-00`,
    'the span that the upstream has for its parent',
  );
  t.match(records[0]?.['time'], /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  t.match(records[0]?.['admittedAt'], /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  t.match(records[5], {
    key: null,
    code: 'invalid_api_key',
    credential: 'malformed',
    counted: false,
    units: 0,
    admittedAt: null,
    decidedAt: /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/,
    cost: 1,
    windows: { minute: [300, Number, Number] },
  });
  t.ok(
    records.every(({ address }) => /^[\d.a-f:]+$/.test(String(address))),
    'an address is an address',
  );
});

t.test(
  'a client that leaves while its request is decided: what the ledger counts then, the log and the counter count too',
  async (t) => {
    const redis = await startRedis();
    t.teardown(() => redis.stop());
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      config: { store: { deadline: '10s' } },
      environment: { PETS_URL: upstream.url, REDIS_URL: redis.url },
    });
    const { id, key } = await gateway.createKey({ plan: 'pro' });
    // Asks the same process something that needs no store: what came before it has been read by then.
    const readUpTo = async (): Promise<void> => {
      for (let n = 0; n < 3; n += 1) await fetch(`${gateway.adminUrl}/livez`);
    };
    const left = (): readonly Record<string, unknown>[] =>
      gateway.program.lines().filter(({ msg }) => msg === 'exchange');
    redis.freeze();
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await once(socket, 'connect');
    await readUpTo();
    // A FIN alone would ask for the response still.
    socket.resetAndDestroy();
    await readUpTo();
    t.equal(left().length, 0, 'nobody knows yet whether it counts');
    redis.thaw();
    await until('it is told', () => left().length === 1);
    t.match(left(), [{ status: 499, key: id, outcome: 'admitted', counted: true }]);
    t.equal((await ledgerOf(gateway, id)).requests, 1);
    t.equal(
      (await scrape(gateway.adminUrl)).value('petgate_admitted_total', { plan: 'pro', operation: 'listPets' }),
      1,
    );
    t.equal(upstream.seen.length, 0, 'nobody waits for an answer of the service');
    t.equal((await scrape(gateway.adminUrl)).value('petgate_exchanges_in_flight'), 0);
  },
);
