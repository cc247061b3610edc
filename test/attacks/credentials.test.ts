import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';
import { issueCertificate } from '../servers/certificate.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../servers/gateway.js';
import { openHttp2 } from '../servers/http2.js';
import { temporaryFolder } from '../servers/program.js';
import { exchangeRaw } from '../servers/raw.js';
import { handshake } from '../servers/tunnel.js';
import { startUpstream } from '../servers/upstream.js';
import { AMPLE_PLANS, request } from './front.js';

const RUNS = 300;
const PATHS = ['/secured', '/open', '/socket', '/nowhere'] as const;
const CONTRACT = {
  openapi: '3.0.3',
  paths: {
    '/secured': { get: {} },
    '/open': { get: { security: [] } },
    '/socket': { get: { 'x-petgate': { websocket: true } } },
  },
};
const CREDENTIALS = [
  'bearer',
  { header: 'X-API-Key' },
  { header: 'api_key' },
  { query: 'api_key' },
  { basic: 'username' },
];
const PROTOCOLS = ['HTTP/1.1', 'HTTP/2', 'WebSocket'] as const;

/** Each sign of a text, spelled in one of these ways. */
const spelled = (text: string, ...ways: readonly ((sign: string) => string)[]): fc.Arbitrary<string> =>
  fc
    .array(
      fc.constantFrom((sign: string) => sign, ...ways),
      { minLength: text.length, maxLength: text.length },
    )
    .map((chosen) =>
      text
        .split('')
        .map((sign, index) => chosen[index]!(sign))
        .join(''),
    );
const upper = (sign: string): string => sign.toUpperCase();
const escaped = (sign: string): string => `%${sign.charCodeAt(0).toString(16)}`;
const ESCAPED = (sign: string): string => escaped(sign).toUpperCase();
const asPhp = (sign: string): string => (sign === '_' ? '.' : sign);
const asSpace = (sign: string): string => (sign === '_' ? '+' : sign);
const asCgi = (sign: string): string => (sign === '-' ? '_' : sign);
const asHttp = (sign: string): string => (sign === '_' ? '-' : sign);

/** What a client says of its key: pieces of a query, and fields. */
interface Sent {
  readonly query: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const parameter = (key: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('', '', '+', '%20'),
      spelled('api_key', upper, escaped, ESCAPED, asPhp, asSpace),
      fc.constantFrom('', '', '[]', '%5B0%5D', '+'),
      fc.constantFrom('=', '=', '=;'),
      spelled(key, escaped, ESCAPED),
    )
    .map((parts) => parts.join(''));
const query = (key: string): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.constantFrom('&', ';', '&&'), fc.oneof(parameter(key), fc.constantFrom('a=1', 'b', '%zz'))), {
      maxLength: 3,
    })
    .map((pieces) => (pieces.length === 0 ? '' : `?${pieces.flat().slice(1).join('')}`));
const field = (key: string): fc.Arbitrary<readonly [string, string]> => {
  const login = Buffer.from(`${key}:any`).toString('base64');
  return fc.oneof(
    fc.tuple(
      fc.oneof(spelled('x-api-key', upper, asCgi), spelled('api_key', upper, asHttp)),
      fc.constantFrom(key, `${key}, ${key}`, `Bearer ${key}`),
    ),
    fc.tuple(
      spelled('authorization', upper),
      fc.constantFrom(`Bearer ${key}`, `bearer  ${key}`, `Basic ${login}`, `BASIC ${login}`, key, `Digest ${key}`),
    ),
    query(key).map((asked) => ['Referer', `https://api.example/open${asked}`] as const),
  );
};
const sent = (key: string): fc.Arbitrary<Sent> =>
  fc.record({ query: query(key), fields: fc.array(field(key), { maxLength: 3 }) });

/** Everything that `text` may say to whoever undoes escapes and base64. */
function readings(text: string): string {
  const unescaped = text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const decoded = [...text.matchAll(/[A-Za-z0-9+/]{20,}/g)].map(([word]) => Buffer.from(word, 'base64').toString());
  return [text, unescaped, ...decoded].join('\n');
}

async function start(t: Test, url: string, access: true | 'text'): Promise<Gateway> {
  const folder = temporaryFolder(t);
  const contract = join(folder, 'contract.json');
  writeFileSync(contract, JSON.stringify(CONTRACT));
  return startGateway(t, {
    plans: AMPLE_PLANS,
    tls: issueCertificate(folder, 'own'),
    config: {
      contract,
      credentials: CREDENTIALS,
      upstreams: { default: { addresses: [url] } },
      log: { access, level: 'trace' },
    },
  });
}

/**
 * The attack: a key in a spelling that the gateway passes over and somebody behind it reads, or twice, or in one place
 * beside another.
 */
for (const access of [true, 'text'] as const) {
  t.test(`no credential reaches upstream, answer, log or metric, however spelled (access: ${access})`, async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await start(t, upstream.url, access);
    const { key } = await gateway.createKey({ plan: 'free' });
    const http2 = openHttp2(t, gateway.target);
    const ask = async (
      protocol: (typeof PROTOCOLS)[number],
      target: string,
      fields: Sent['fields'],
    ): Promise<unknown> => {
      const lines = fields.map((pair) => pair.join(': '));
      if (protocol === 'HTTP/1.1') return exchangeRaw(gateway.target, request(`GET ${target}`, ...lines), 1);
      if (protocol === 'WebSocket') return exchangeRaw(gateway.target, handshake(target, ...lines), 1);
      const grouped: Record<string, string[]> = {};
      for (const [name, value] of fields) (grouped[name.toLowerCase()] ??= []).push(value);
      // Node sends some fields once alone.
      const single = Object.entries(grouped).map(
        ([name, [first, ...rest]]) => [name, /^(?:x|api)/.test(name) ? [first!, ...rest] : first!] as const,
      );
      return http2.send({ path: target, fields: Object.fromEntries(single) });
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...PROTOCOLS),
        fc.constantFrom(...PATHS),
        sent(key),
        async (protocol, path, { query: asked, fields }) => {
          const before = upstream.seen.length;
          const answer = await ask(protocol, path + asked, fields);
          const reached = JSON.stringify(upstream.seen.slice(before));
          t.notOk(readings(reached).includes(key), `${protocol} ${path}${asked} ${JSON.stringify(fields)}`);
          t.notOk(readings(JSON.stringify(answer)).includes(key), 'nor does the answer say it');
        },
      ),
      { numRuns: RUNS },
    );
    t.ok(upstream.seen.length > RUNS / 10, `${upstream.seen.length} requests went on`);
    const metrics = await fetch(`${gateway.adminUrl}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    t.notOk(readings(await metrics.text()).includes(key), 'nor any metric');
    t.notOk(readings(gateway.program.output()).includes(key), 'nor the log');
  });
}
