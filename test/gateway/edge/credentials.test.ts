import t from 'tap';
import type { CredentialLocations } from '../../../src/gateway/refusals/credential-location.js';
import { credentialTaker } from '../../../src/gateway/edge/credentials.js';
import { createStrip } from '../../../src/gateway/edge/strip.js';
import type { Exchange, Stripped } from '../../../src/gateway/exchange.js';
import { makeExchange } from '../exchange.js';

const EVERYWHERE: CredentialLocations = [
  'bearer',
  { header: 'X-API-Key' },
  { query: 'api_key' },
  { basic: 'username' },
];
const basic = (login: string): string => `Basic ${Buffer.from(login).toString('base64')}`;

function taken(locations: CredentialLocations, fields: Partial<Exchange>): Stripped {
  return createStrip(locations)(makeExchange(fields).exchange);
}
const keyOf = (locations: CredentialLocations, fields: Partial<Exchange>): string | null =>
  taken(locations, fields).authorization;

t.test('where keys are bearer tokens alone, nothing is done for other places', (t) => {
  t.equal(credentialTaker(['bearer']), null);
  t.end();
});

t.test('a key is found wherever the settings say', (t) => {
  for (const [what, fields] of [
    ['Bearer', { authorization: 'Bearer k' }],
    ['a field', { headers: ['x-api-KEY', 'k'] }],
    ['a field, spelled as CGI reads it', { headers: ['X_API_Key', 'k'] }],
    ['the query', { query: '?api_key=k' }],
    ['the query, among others', { query: '?a=1&api_key=k&b=2' }],
    ['the query, escaped', { query: '?%61pi%5Fkey=%6b' }],
    ['the query, in other case', { query: '?API_Key=k' }],
    ['the query, behind a semicolon', { query: '?a=1;api_key=k' }],
    ['the user name', { authorization: basic('k:') }],
    ['the user name, with a password', { authorization: basic('k:a:b') }],
  ] as const)
    t.equal(keyOf(EVERYWHERE, fields), 'Bearer k', what);
  t.equal(keyOf([{ basic: 'password' }], { authorization: basic('any:k:l') }), 'Bearer k:l', 'the password');
  for (const authorization of ['token k', 'Token   k', 'TOKEN k'])
    t.equal(keyOf(['bearer', { scheme: 'token' }], { authorization }), 'Bearer k', authorization);
  t.equal(keyOf(['bearer', { scheme: 'ApiKey' }], { authorization: 'Bearer k' }), 'Bearer k');
  t.equal(keyOf([{ header: 'Authorization' }], { authorization: 'k' }), 'Bearer k', 'Authorization without a scheme');
  t.equal(keyOf([{ query: 'q' }], { query: '?q=a%2Bb%2F%3D' }), 'Bearer a+b/=', 'signs that a query must escape');
  t.equal(keyOf(EVERYWHERE, {}), null);
  t.end();
});

t.test('the first place of the settings that a request uses counts, whatever is in it', (t) => {
  const all = { authorization: 'Bearer a', headers: ['X-API-Key', 'b'], query: '?api_key=c' };
  t.equal(keyOf(EVERYWHERE, all), 'Bearer a');
  t.equal(keyOf([{ query: 'api_key' }, 'bearer'], all), 'Bearer c');
  t.equal(keyOf([{ header: 'x-api-key' }, 'bearer'], all), 'Bearer b');
  t.equal(keyOf([{ header: 'x-api-key' }, 'bearer'], { ...all, headers: ['X-API-Key', ''] }), '', 'an empty one too');
  t.equal(keyOf(EVERYWHERE, { ...all, authorization: basic('d:') }), 'Bearer b', 'Basic is not Bearer');
  t.equal(keyOf(EVERYWHERE, { ...all, authorization: 'Digest d' }), 'Bearer b', 'nor is anything else');
  t.end();
});

t.test('a credential that came twice, or in a way nobody configured, is none', (t) => {
  for (const fields of [
    { authorization: '' },
    { headers: ['X-API-Key', 'k', 'x-api-key', 'k'] },
    { headers: ['X-API-Key', 'k', 'X_API_KEY', 'k'] },
    { query: '?api_key=k&api_key=k' },
    { query: '?api_key=k&API%5fKEY=k' },
    { query: '?api_key' },
    { authorization: 'Basic' },
    { authorization: 'Basic k:' },
    { authorization: basic('k') },
  ])
    t.equal(keyOf(EVERYWHERE, fields), '', JSON.stringify(fields));
  t.equal(keyOf([{ basic: 'username' }], { authorization: 'Bearer k' }), 'Not-Bearer k', 'never a key');
  t.equal(keyOf([{ scheme: 'token' }], { authorization: 'Bearer k' }), 'Not-Bearer k');
  t.equal(keyOf([{ scheme: 'token' }], { authorization: 'tokens k' }), 'tokens k');
  t.equal(keyOf([{ scheme: 'token' }], { authorization: '' }), '', 'two are none');
  t.equal(keyOf(['bearer', { query: 'q' }], { authorization: basic('k:') }), basic('k:'), 'says what is wrong with it');
  t.equal(keyOf([{ header: 'Authorization' }], { authorization: 'Token k' }), 'Token k');
  t.equal(keyOf([{ query: 'q' }], { headers: ['X-API-Key', 'k'] }), null, 'where nobody looks there is none');
  t.end();
});

t.test('what is left of the query stays as it was sent, and so do other fields', (t) => {
  const left = (query: string): string => taken(EVERYWHERE, { query }).query;
  for (const query of ['', '?', '?&&', '?a=%zz&b=1;2&c+d=%41', '?my_api_key=1', '?api_keys=1', '?x=api_key'])
    t.equal(left(query), query, query);
  t.equal(left('?api_key=k'), '', 'without a mark');
  t.equal(left('?a=1&api_key=k&a=2'), '?a=1&a=2');
  t.equal(left('?a=1;b=2;api_key=k;c&d=3'), '?a=1;b=2&d=3', 'a key may hold a semicolon');
  const { headers } = taken(EVERYWHERE, {
    headers: ['Referer', 'https://a.example/b?api_key=k&c=d', 'X-Fine', '?api_key=k', 'X-API-Keys', 'k'],
  });
  t.same(headers, ['Referer', 'https://a.example/b?c=d', 'X-Fine', '?api_key=k', 'X-API-Keys', 'k']);
  t.end();
});

t.test("the client's own Authorization is for the upstream only where no key is read from it", (t) => {
  const own = { authorization: 'Bearer theirs', headers: ['X-API-Key', 'k'] };
  t.match(taken([{ header: 'X-API-Key' }], own), { authorization: 'Bearer k', clientAuthorization: 'Bearer theirs' });
  for (const also of ['bearer', { basic: 'username' }, { header: 'authorization' }] as const)
    t.equal(taken([{ header: 'X-API-Key' }, also], own).clientAuthorization, null, JSON.stringify(also));
  t.end();
});
