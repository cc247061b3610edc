import t from 'tap';
import { aboutOf } from '../../../src/gateway/docs/about.js';

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
