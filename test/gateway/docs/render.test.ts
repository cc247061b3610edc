import t, { type Test } from 'tap';
import { renderPage } from '../../../src/gateway/docs/page.js';
import type { Reference } from '../../../src/gateway/docs/reference.js';
import { pageOf, readReference, wordsOf } from './read.js';

const ODD = `a"b<c>&d`;
const BIG = '9007199254740993';

/** With this many operations, the one of the gateway that clients call included. */
function manyOf(t: Test, count: number): Reference {
  const paths = Array.from({ length: count - 1 }, (_, n) => [`/p${n}`, { get: { tags: n === 0 ? [] : [ODD] } }]);
  const tags = [{ name: ODD, description: `<b>First</b>\nsecond` }];
  return readReference(t, { info: { title: 'Large' }, tags, paths: Object.fromEntries(paths) as object });
}

t.test('the overview speaks of what the contract has, and of nothing else', (t) => {
  const operation = { 'x-petgate': { upstream: 'weather', cost: 2, scope: null }, responses: {} };
  const reference = readReference(t, {
    info: { title: 'Sun & Rain', version: '1', summary: 'What to wear.', description: 'One.\n\nTwo\nlines.\n- Item' },
    servers: [{ url: '/v2' }],
    paths: { '/days/{day}': { get: { ...operation, summary: 'A <day>' } }, '/days': { get: operation } },
  });
  const page = renderPage(reference, null);
  t.match(page, '<title>Sun &#38; Rain</title>');
  t.match(page, '<p>What to wear.</p><p>One.</p><p>Two\nlines.</p><p>- Item</p>');
  t.match(wordsOf(page), '"Authorization: Bearer $API_KEY" "BASE_URL/v2/days"');
  t.match(page, '<a href="/_own/docs?operation=GET%20%2Fdays%2F%7Bday%7D">\n<b>GET</b>');
  t.match(page, 'A &#60;day&#62;');
  t.match(page, '/_own/usage');
  t.notMatch(page, 'operation=getDocs', 'its own pages are not of the API');
  t.notMatch(page, /\bpets?\b|animal/i);
  t.match(wordsOf(pageOf(reference, 'GET /days')), 'Costs 2 units');
  t.end();
});

t.test('up to a hundred operations are listed on every page; of more only those of the same tag', (t) => {
  const few = manyOf(t, 100);
  t.equal(pageOf(few, 'GET /p0').match(/<li><a/g)?.length, 100);
  const many = manyOf(t, 101);
  const overview = renderPage(many, null);
  t.equal(overview.match(/<li><a/g)?.length, 101);
  t.match(overview, '<p class="hint">&#60;b&#62;First&#60;/b&#62;');
  const page = pageOf(many, 'GET /p7');
  t.equal(page.match(/<li><a/g)?.length, 99);
  t.match(page, 'aria-current="page">\n<b>GET</b> <code>/p7</code>');
  t.match(page, '<a href="/_own/docs#tag-2">Without a tag (1)</a>');
  t.match(overview, 'id="tag-2"');
  t.end();
});

const PET = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer', format: 'int64' }, mother: { $ref: '#/components/schemas/Pet' } },
};

t.test('a page has all that an operation takes, costs and returns, with integers as written', (t) => {
  const document = JSON.stringify({
    openapi: '3.1.0',
    paths: {
      '/pets/{id}': {
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer', maximum: 'BIG' }, example: 'BIG' },
        ],
        put: {
          operationId: 'putPet',
          summary: '<i>Put</i>',
          description: 'First.\n\nSecond.',
          'x-petgate': {
            scope: 'pets:write',
            cost: { hold: { header: 'x-max', default: 5, max: 4000 }, from: { json: '/usage/total' } },
          },
          parameters: [
            {
              name: 'limit',
              in: 'query',
              description: 'How many.',
              schema: { type: 'integer', minimum: 1, default: 20 },
            },
            { $ref: '#/components/parameters/Trace' },
          ],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' }, example: { id: 'BIG' } } },
          },
          responses: {
            200: {
              description: 'Done',
              headers: { 'X-RateLimit-Limit': {}, Link: { description: 'The next.', schema: { type: 'string' } } },
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
            },
          },
        },
      },
    },
    components: {
      parameters: { Trace: { name: 'X-Trace', in: 'header', schema: { type: 'string', enum: ['a', 'b'] } } },
      schemas: { Pet: PET },
    },
  }).replaceAll('"BIG"', BIG);
  const page = pageOf(readReference(t, document), 'putPet');
  const words = wordsOf(page);
  t.match(page, '<h1>&#60;i&#62;Put&#60;/i&#62;</h1>');
  t.match(page, '<p>First.</p><p>Second.</p>');
  for (const wanted of [
    'PUT /pets/{id}',
    'Costs holds what the header x-max says (5 units without it, at most 4,000) until the response; ' +
      'then what its field /usage/total says',
    'Key pets:write',
    `id required in path, integer, maximum ${BIG}`,
    'limit in query, integer, minimum 1, default 20 How many.',
    'X-Trace in header, string, one of "a", "b"',
    `{ "id": ${BIG} }`,
    'id required integer (int64)',
    'mother Pet The fields of Pet, as above.',
    '200 Done',
    'Link in header, string The next.',
    `PUT -H "Authorization: Bearer $API_KEY" "BASE_URL/pets/${BIG}"`,
    `--data-raw '{ "id": ${BIG} }'`,
  ])
    t.ok(words.includes(wanted), wanted);
  t.notMatch(words, 'X-RateLimit-Limit', 'what every response has is not repeated');
  t.match(page, /<summary>Go<\/summary>/);
  t.match(page, `value="${BIG}"`, 'the form has the example');
  t.end();
});

t.test('public operations need no key; those without a description are shown as they are', (t) => {
  const page = pageOf(readReference(t, { paths: { '/a/{b}': { get: { security: [] } } } }), 'GET /a/{b}');
  t.match(wordsOf(page), 'Key not needed');
  t.notMatch(page, 'API_KEY"');
  t.match(wordsOf(page), 'b required in path, any');
  t.end();
});
