import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { CATALOGUE } from '../../../src/gateway/catalogue.js';
import { readDocument } from '../../../src/gateway/docs/document.js';
import { renderPage } from '../../../src/gateway/docs/page.js';

const OWN = Object.keys(CATALOGUE).length;
const DAY = { name: 'day', in: 'path', required: true, schema: { type: 'integer' } };
const read = (document: object): ReturnType<typeof readDocument> =>
  readDocument(Buffer.from(JSON.stringify(document)), ['bearer']);

t.test('the page takes from a document what it can, whatever form the rest has', (t) => {
  const shown = { value: { code: 'no_cats', status: 404, message: 'None left.' } };
  const { title, summary, errors } = read({
    info: { title: 'Cats', summary: 7 },
    components: {
      responses: {
        Odd: { $ref: '#/nowhere' },
        Older: { content: { 'application/json': { examples: ['a list'] } } },
        Gone: { content: { 'application/json': { examples: { shown, other: { value: 'text' } } } } },
      },
    },
  });
  t.same([title, summary], ['Cats', '']);
  t.equal(errors.length, OWN + 1);
  t.match(
    errors.find(({ code }) => code === 'no_cats'),
    shown.value,
  );
  t.end();
});

t.test('a document that says nothing has a page too', (t) => {
  for (const document of [{}, { info: 7, components: [] }, { components: { responses: 'none' } }]) {
    const { title, errors } = read(document);
    t.equal(title, 'API');
    t.equal(errors.length, OWN);
  }
  t.end();
});

t.test('the page speaks of what the contract has, and of nothing else', (t) => {
  const operation = {
    operationId: 'forecast',
    'x-petgate': { upstream: 'weather', cost: 2, scope: null },
    responses: {},
  };
  const file = join(t.testdir({}), 'weather.json');
  writeFileSync(
    file,
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Sun & Rain', version: '1', summary: 'What to wear.' },
      servers: [{ url: '/v2' }],
      security: [{ key: [] }],
      paths: {
        '/days/{day}': { get: { ...operation, operationId: 'day', parameters: [DAY] } },
        '/days': { get: operation },
      },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    }),
  );
  const { routes, document } = loadContract(file);
  const page = renderPage(routes.operations, loadSettings({}).plans, readDocument(document, ['bearer']), ['bearer']);
  t.match(page, '<title>Sun &#38; Rain</title>');
  t.match(page, '<p>What to wear.</p>');
  t.match(page, '$BASE/v2/days"</pre>');
  t.match(page, /GET \/v2\/days<\/code>.*<td>2 units<\/td>/);
  t.notMatch(page, /\bpets?\b|animal/i);
  t.end();
});
