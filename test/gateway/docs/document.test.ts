import t from 'tap';
import { CATALOGUE } from '../../../src/gateway/catalogue.js';
import { readDocument } from '../../../src/gateway/docs/document.js';

const OWN = Object.keys(CATALOGUE).length;
const read = (document: object): ReturnType<typeof readDocument> => readDocument(Buffer.from(JSON.stringify(document)));

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
