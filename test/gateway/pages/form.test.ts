import t from 'tap';
import { InvalidForm, readForm } from '../../../src/gateway/pages/form.js';

const TYPE = 'application/x-www-form-urlencoded';
const read = (text: string, type: string | undefined = TYPE) => readForm(type, Buffer.from(text));

t.test('fields as a browser sends them', (t) => {
  const form = read(
    'name=My+app%20%26+%C3%A9&note=a%0D%0Ab&scope=x&scope=y&empty=+&bare&=odd',
    `${TYPE}; charset=utf-8`,
  );
  t.equal(form.text('name'), 'My app & é');
  t.equal(form.text('note'), 'a\nb');
  t.strictSame(form.all('scope'), ['x', 'y']);
  t.equal(form.given('empty'), undefined);
  t.equal(form.given('name'), 'My app & é');
  t.equal(form.text('missing'), '');
  t.ok(form.has('bare'));
  t.notOk(form.has('missing'));
  t.throws(() => form.text('scope'), InvalidForm);
  t.equal(form.text('__proto__'), '');
  t.end();
});

t.test('what is no form, no text or too many fields is refused', (t) => {
  t.throws(() => read('a=%ff'), InvalidForm);
  t.throws(() => read('a=%'), InvalidForm);
  t.throws(() => read('a=1', 'text/plain'), InvalidForm);
  t.throws(() => readForm(undefined, Buffer.from('a=1')), InvalidForm);
  t.throws(() => read('a=1&'.repeat(201)), InvalidForm);
  t.equal(read('').text('a'), '');
  t.end();
});
