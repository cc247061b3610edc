import fc from 'fast-check';
import t from 'tap';
import { indented } from '../../../src/gateway/docs/docs-browser.js';

t.test('every scalar stays as it was written', (t) => {
  t.equal(
    indented('{"id":9007199254740993,"b":[-9223372036854775808,1.0,1e400,"\\u00e9\\"{,}[:]"],"":{},"c":[ ],"d":null}'),
    [
      '{',
      '  "id": 9007199254740993,',
      '  "b": [',
      '    -9223372036854775808,',
      '    1.0,',
      '    1e400,',
      '    "\\u00e9\\"{,}[:]"',
      '  ],',
      '  "": {},',
      '  "c": [],',
      '  "d": null',
      '}',
    ].join('\n'),
  );
  t.equal(indented('{"2":0,"1":0,"__proto__":1}'), '{\n  "2": 0,\n  "1": 0,\n  "__proto__": 1\n}');
  t.equal(indented(' 9007199254740993 '), '9007199254740993');
  t.end();
});

t.test('of what JavaScript keeps whole it makes what JavaScript makes', (t) => {
  const isIndexed = (text: string): boolean => /"\d+":/.test(text);
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!isIndexed(text));
      const value = JSON.parse(text) as unknown;
      return indented(JSON.stringify(value)) === JSON.stringify(value, null, 2);
    }),
  );
  t.end();
});

t.test('what is no JSON is left to Swagger UI', (t) => {
  for (const text of ['', '{', '{"a":01}', '[1,]', 'abc', '<html>']) t.equal(indented(text), undefined, text);
  t.end();
});
