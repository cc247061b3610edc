import t from 'tap';
import { TextLine } from '../../../../src/gateway/observe/log/text-line.js';
import { newLogEntry } from '../../../../src/gateway/edge/open.js';
import type { Exchange, ExchangeLog } from '../../../../src/gateway/exchange.js';
import { limitReached, REFUSALS } from '../../../../src/gateway/refusal.js';
import { makeExchange } from '../../exchange.js';

/** The line without its time, each run of blanks as two. */
function lineOf(fields: Partial<Exchange>, status: number, ended: Partial<ExchangeLog> = {}): string {
  const { exchange } = makeExchange({ ...fields, logEntry: { ...newLogEntry(), ...ended } });
  const text = String(new TextLine(exchange, status, 3.14));
  if (!/^\d\d:\d\d:\d\d {2}[^\n]+\n$/.test(text)) throw new Error(`no line: ${text}`);
  return text.slice(10, -1).replace(/ {2,}/g, '  ');
}

t.test('a line says method, path, status, time, and why it was refused', (t) => {
  t.equal(lineOf({}, 200), 'GET  /v1/pets  200  3.1 ms');
  t.equal(lineOf({ method: 'POST' }, 400, { upstream: 'pets' }), 'POST  /v1/pets  400  3.1 ms  answered by pets');
  t.equal(
    lineOf({}, 429, { refusal: limitReached('day') }),
    'GET  /v1/pets  429  3.1 ms  rate_limited: The rate limit "day" is reached.',
  );
  t.match(
    lineOf({}, 401, { refusal: REFUSALS.invalid_api_key, credential: 'other_environment' }),
    '401  3.1 ms  invalid_api_key (other_environment): The API key is not valid',
  );
  t.match(lineOf({ method: '', path: '' }, 400, { refusal: REFUSALS.malformed_request }), '-  -  400');
  t.end();
});

t.test('a key never shows, wherever it was sent', (t) => {
  const key = `ptg_development_${'aB3dE6gH9j'.repeat(4)}wxyz`;
  const secrets = [key, `pta_${'x'.repeat(44)}`, 'sk_live_4eC39HqLyjWDarjt', '4bf92f3577b34da6', 'q'.repeat(40)];
  for (const secret of secrets) {
    const places: Partial<Exchange>[] = [
      { path: `/v1/${secret}/pets` },
      { path: `/v1/pets;key=${secret}` },
      { query: `?key=${secret}` },
      { headers: ['X-Key', secret] },
      { authorization: `Bearer ${secret}` },
    ];
    for (const place of places) t.notMatch(lineOf(place, 404), secret.slice(4), JSON.stringify(place));
  }
  t.equal(lineOf({ path: `/v1/${key}/pets` }, 404), 'GET  /v1/ptg…/pets  404  3.1 ms');
  t.end();
});

t.test('names and numbers show as they are, and a path of any length has its end', (t) => {
  for (const path of [
    '/v1/pets/9007199254740993',
    '/v1/pets/-9223372036854775808',
    '/repos/o/r/secret-scanning/alerts',
  ])
    t.equal(lineOf({ path }, 200), `GET  ${path}  200  3.1 ms`);
  t.ok(lineOf({ path: '/a'.repeat(4000) }, 404).length < 120);
  t.end();
});
