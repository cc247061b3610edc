import t from 'tap';
import { nextTraceparent, requestIdOf, withoutCredential } from '../../../src/gateway/edge/trace.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

t.test('a valid trace goes on with a span of its own', (t) => {
  const { traceparent, continued } = nextTraceparent(`00-${TRACE}-${SPAN}-01`);
  t.ok(continued);
  t.match(traceparent, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  t.notMatch(traceparent, SPAN);
  for (const [flags, kept] of [
    ['02', '02'],
    ['03', '03'],
    ['fc', '00'],
    ['fe', '02'],
  ] as const)
    t.match(nextTraceparent(`00-${TRACE}-${SPAN}-${flags}`).traceparent, new RegExp(`-${kept}$`), `flags ${flags}`);
  t.match(
    nextTraceparent(`01-${TRACE}-${SPAN}-01-more`).traceparent,
    new RegExp(`^00-${TRACE}-`),
    'a later version is read as far as it is known',
  );
  t.end();
});

t.test('what is no trace begins a new one, not sampled, and never the same twice', (t) => {
  const seen = new Set<string>();
  for (const bad of [
    null,
    '',
    'x',
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `01-${TRACE}-${SPAN}-01more`,
    `00-${TRACE}-${SPAN}-0`,
    ` 00-${TRACE}-${SPAN}-01`,
  ]) {
    const { traceparent, continued } = nextTraceparent(bad);
    t.notOk(continued, String(bad));
    t.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    seen.add(traceparent);
  }
  for (let n = 0; n < 2000; n += 1) seen.add(nextTraceparent(null).traceparent);
  t.equal(seen.size, 2010);
  t.end();
});

t.test('a request id is kept when it is harmless', (t) => {
  for (const id of ['a', 'A-z_0.9~+/=', 'f'.repeat(128)]) t.equal(requestIdOf(id), id);
  for (const id of [null, '', 'f'.repeat(129), 'a b', 'a\nb', '<a>', 'a"b', 'a,b'])
    t.match(requestIdOf(id), /^[0-9a-f]{32}$/, String(id));
  t.end();
});

t.test('an id that looks like a token, or holds the credential of its request, is replaced', (t) => {
  const secret = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4';
  for (const token of [
    `ptg_development_${secret}`,
    `x-ptg_production_${secret}`,
    `pta_${secret}`,
    `sk_live_${secret}`,
    `sk-proj-${secret}`,
    `ghp_${secret}`,
    `github_pat_${secret}`,
    `glpat-${secret}`,
    `xoxb-${secret}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${secret}`,
    'AKIAIOSFODNN7EXAMPLE',
  ])
    t.match(requestIdOf(token), /^[0-9a-f]{32}$/, token);
  for (const id of ['task_1', 'cmpt-7', 'eyJ', 'req_a1B2', '01J9ZK5Y8Q', '9f8b7c6d-1234-4abc-8def-0123456789ab'])
    t.equal(requestIdOf(id), id);
  for (const authorization of [`Bearer ${secret}`, secret, `Basic ${secret}`])
    t.match(withoutCredential(`id-${secret}`, authorization), /^[0-9a-f]{32}$/, 'a key of any form');
  t.equal(withoutCredential('abc', `Bearer ${secret}`), 'abc');
  for (const authorization of [null, '', 'Bearer ', 'Bearer a'])
    t.equal(withoutCredential('abc', authorization), 'abc', String(authorization));
  t.end();
});
