import t from 'tap';
import { name, note } from '../../../src/gateway/accounts/fields.js';

function problemWith(field: 'name' | 'note', value: string): string {
  return { name, note }[field].safeParse(value).error?.message ?? '';
}

/** Some of them would be taken for line ends. */
function nameOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

t.test('no text can be shown as another one: nothing turns its direction or breaks its line', (t) => {
  for (const character of '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029')
    for (const field of ['name', 'note'] as const)
      t.match(problemWith(field, `Shop${character}gnp.exe`), /direction of text/, nameOf(character));
  t.end();
});

t.test('a name has something to be seen', (t) => {
  for (const invisible of [
    '\u200b',
    '\u00ad',
    '\u3164',
    '\u115f',
    '\uffa0',
    '\u2800',
    '\ufeff',
    '\u180e',
    '\ufe0f',
    '\u0301',
  ])
    for (const text of [invisible, `${invisible} ${invisible}`])
      t.match(problemWith('name', text), /at least one of them visible/, nameOf(text));
  for (const blank of ['', ' ', '\u00a0', '\u3000']) t.not(problemWith('name', blank), '', nameOf(blank));
  t.end();
});

t.test('names of all languages are names', (t) => {
  for (const text of ['Zoo', 'חנות', 'متجر', '动物', 'क्षि', '👨‍👩‍👧', 'é', 'e\u0301', '7', '.'])
    t.equal(problemWith('name', text), '', text);
  t.end();
});
