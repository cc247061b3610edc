import t from 'tap';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { CATALOGUE } from '../../../src/gateway/refusals/catalogue.js';
import type { Operation } from '../../../src/gateway/contract/operation/operation.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { aboutOf, referenceOf, type Reference } from '../../../src/gateway/docs/reference.js';

const OWN = Object.keys(CATALOGUE).length;
const contract = loadContract();
const { routes } = contract;
const settings = loadSettings({});

function withTags(...tags: readonly (readonly string[])[]): Reference {
  const [one] = routes.operations;
  const operations: readonly Operation[] = tags.map((each, n) => ({ ...one!, id: String(n), tags: each }));
  const described = ['z', 'unused', '__proto__'].map((name) => ({ name, description: `About ${name}` }));
  const document = Buffer.from(JSON.stringify({ tags: described }));
  return referenceOf({ ...contract, document, routes: { ...routes, operations } }, settings);
}

t.test('errors are those of the gateway, and those that the contract shows of its upstreams', (t) => {
  const foreign = { code: 'no_cats', status: 404, message: 'None left.' };
  const hidden = { code: 'not_found', status: 404, message: 'Other words.' };
  const examples = { foreign: { value: foreign }, hidden: { value: hidden } };
  const responses = { Gone: { content: { 'application/json': { examples } } } };
  const document = Buffer.from(JSON.stringify({ components: { responses } }));
  const { errors } = referenceOf({ ...contract, document }, settings);
  t.equal(errors.length, OWN + 1);
  t.match(
    errors.find(({ code }) => code === 'no_cats'),
    foreign,
  );
  t.match(errors.find(({ code }) => code === 'not_found')?.message, 'There is no such path');
  t.end();
});

t.test('operations are grouped by tag: those described first, what has no tag last', (t) => {
  const { groups } = withTags(['a'], ['other', 'z'], [], ['__proto__'], ['a'], []);
  t.strictSame(
    groups.map(({ name, description, operations }) => [name, description, operations.map(({ id }) => id)]),
    [
      ['z', 'About z', ['1']],
      ['__proto__', 'About __proto__', ['3']],
      ['a', '', ['0', '4']],
      ['other', '', ['1']],
      [null, '', ['2', '5']],
    ],
  );
  t.end();
});

t.test("the gateway's own pages are not listed, but the usage of a key is", (t) => {
  const { operations } = referenceOf(contract, settings);
  t.strictSame(
    operations.map(({ id }) => id),
    ['listPets', 'createPet', 'getPet', 'listOrders', 'getOwnUsage'],
  );
  t.end();
});

t.test('what a document says for people is read, whatever form the rest has', (t) => {
  const shown = { value: { code: 'no_cats', status: 404, message: 'None left.' } };
  const about = aboutOf({
    info: { title: 'Cats', summary: 7, description: 'All of them.' },
    tags: ['text', { name: 7 }, { name: 'a', description: 'First.' }, { name: '__proto__' }],
    components: {
      responses: {
        Odd: { $ref: '#/nowhere' },
        Older: { content: { 'application/json': { examples: ['a list'] } } },
        Gone: { content: { 'application/json': { examples: { shown, other: { value: 'text' } } } } },
      },
    },
  });
  t.strictSame(about, {
    title: 'Cats',
    summary: '',
    description: 'All of them.',
    tags: new Map([
      ['', ''],
      ['a', 'First.'],
      ['__proto__', ''],
    ]),
    errors: [shown.value],
  });
  t.end();
});

t.test('a document that says nothing, or nonsense, is called API', (t) => {
  for (const document of [{}, { info: 7, tags: {}, components: [] }, { components: { responses: 'none' } }])
    t.strictSame(aboutOf(document), { title: 'API', summary: '', description: '', tags: new Map(), errors: [] });
  t.end();
});
