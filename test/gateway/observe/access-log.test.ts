import t from 'tap';
import { startGateway } from '../../servers/gateway.js';
import { exchangeRaw } from '../../servers/raw.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';

const FIELDS = [
  'level', 'time', 'program', 'pid', 'request', 'trace', 'http', 'method', 'operation', 'key', 'plan', 'outcome', 'code', 'credential', 'address',
  'status', 'bytes', 'ms', 'admissionMs', 'upstreamMs', 'counted', 'admittedAt', 'msg',
];
const ODD = `"\\{}'\u00e9`;

t.test('every exchange is one line of JSON with the same fields, whatever a client sends', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { config: { trusted_proxies: ['127.0.0.1'] }, environment: { PETS_URL: upstream.url } });
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
  const lines = (): readonly string[] => gateway.program.output().split('\n').filter((line) => line.includes('"msg":"exchange"'));
  await until('all are logged', () => lines().length === requests.length);
  const records = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const record of records) t.strictSame(Object.keys(record), FIELDS);
  t.match(records[0], {
    level: 'info', program: 'gateway', pid: gateway.program.pid, request: 'mine-1', http: '1.1', method: 'GET', operation: 'listPets', key: id, plan: 'pro',
    outcome: 'admitted', code: null, credential: null, address: '127.0.0.1', status: 200, bytes: 2, counted: true,
  });
  t.match(records[0]?.['time'], /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  t.match(records[0]?.['admittedAt'], /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  t.match(records[5], { key: null, code: 'invalid_api_key', credential: 'malformed', counted: false, admittedAt: null });
  t.ok(records.every(({ address }) => /^[\d.a-f:]+$/.test(String(address))), 'an address is an address');
});
