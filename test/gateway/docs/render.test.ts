import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { renderGroup, renderPage } from '../../../src/gateway/docs/page.js';
import { referenceOf, type Reference } from '../../../src/gateway/docs/reference.js';

const ODD = `a"b<c>&d`;
const DAY = { name: 'day', in: 'path', required: true, schema: { type: 'integer' } };

function read(t: Test, document: object): Reference {
  const file = join(t.testdir({}), 'api.json');
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', ...document }));
  return referenceOf(loadContract(file, { own_paths: '/_own' }), loadSettings({}));
}

/** With so many operations, the one of the gateway that clients call included. */
function manyOf(t: Test, count: number): Reference {
  const paths = Array.from({ length: count - 1 }, (_, n) => [`/p${n}`, { get: { tags: n === 0 ? [] : [ODD] } }]);
  const tags = [{ name: ODD, description: `<b>First</b>\nsecond` }];
  return read(t, { info: { title: 'Large' }, tags, paths: Object.fromEntries(paths) as object });
}

t.test('the page speaks of what the contract has, and of nothing else', (t) => {
  const operation = { 'x-petgate': { upstream: 'weather', cost: 2, scope: null }, responses: {} };
  const page = renderPage(
    read(t, {
      info: { title: 'Sun & Rain', version: '1', summary: 'What to wear.' },
      servers: [{ url: '/v2' }],
      paths: { '/days/{day}': { get: { ...operation, parameters: [DAY] } }, '/days': { get: operation } },
    }),
  );
  t.match(page, '<title>Sun &#38; Rain</title>');
  t.match(page, '<p>What to wear.</p>');
  t.match(page, '$BASE/v2/days"</pre>');
  t.match(page, /GET \/v2\/days<\/code>.*<td>2 units<\/td>/);
  t.match(page, 'data-document="/_own/openapi.json"');
  t.match(page, 'GET /_own/usage');
  t.notMatch(page, 'GET /_own/docs', 'its own pages are not of the API');
  t.notMatch(page, /\bpets?\b|animal/i);
  t.end();
});

t.test('a hundred operations are on one page; of more it is an index of tags', (t) => {
  t.match(renderPage(manyOf(t, 100)), 'id="swagger-ui"');
  const page = renderPage(manyOf(t, 101));
  t.notMatch(page, /swagger|<script/);
  t.match(page, '<p>101 operations, by tag.');
  t.match(
    page,
    '<td><a href="/_own/docs?tag=a%22b%3Cc%3E%26d">a&#34;b&#60;c&#62;&#38;d</a></td><td class="number">99</td>' +
      '<td>&#60;b&#62;First&#60;/b&#62;</td>',
  );
  t.match(page, '<td><a href="/_own/docs?untagged">Without a tag</a></td><td class="number">1</td><td></td>');
  t.match(page, '<a href="/_own/docs?tag=gateway">gateway</a></td><td class="number">1</td>');
  t.end();
});

t.test('the page of a tag has its operations, and its part of the document', (t) => {
  const reference = manyOf(t, 101);
  const page = renderGroup(reference, reference.groups.get(ODD)!);
  t.match(page, '<h1>a&#34;b&#60;c&#62;&#38;d – Large</h1>');
  t.match(page, 'data-document="/_own/openapi.json?tag=a%22b%3Cc%3E%26d"');
  t.match(page, '<a href="/_own/docs#operations">All tags</a>');
  t.match(page, '<code>GET /p99</code>');
  t.notMatch(page, '<code>GET /p0</code>');
  t.match(renderGroup(reference, reference.groups.get(null)!), '<code>GET /p0</code>');
  t.end();
});
