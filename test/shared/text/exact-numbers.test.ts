import fc from 'fast-check';
import t from 'tap';
import { markLong, parseExact, stringifyExact, unmark } from '../../../src/shared/text/exact-numbers.js';

t.test('long numbers stay as they were written', (t) => {
  for (const json of [
    '{"a":9007199254740993,"b":[-9223372036854775808,[9223372036854775807]],"c":0.12345678901234567890123}',
    '{"text":": 9007199254740993,","a":12345678901234567e-10,"b":"\\\\"}',
    '[9007199254740993 ,1]',
  ])
    t.equal(stringifyExact(parseExact(json)).replaceAll(' ', ''), json.replaceAll(' ', ''));
  t.equal(
    stringifyExact({ a: parseExact('[ 9007199254740993 ]') }, undefined, 1),
    '{\n "a": [\n  9007199254740993\n ]\n}',
  );
  t.end();
});

t.test('all else is as JSON has it', (t) => {
  fc.assert(fc.property(fc.json(), (json) => stringifyExact(parseExact(json)) === JSON.stringify(JSON.parse(json))));
  for (const json of ['[01234567890123456]', '[1.2.34567890123456]', '["12345678901234567]', '[-12345678901234567.]'])
    t.throws(() => parseExact(json), SyntaxError, json);
  t.end();
});

t.test('a marked number is a bigint, or rounded if it is not an integer', (t) => {
  t.equal(unmark(markLong('9007199254740993')), 9007199254740993n);
  t.equal(unmark(markLong('-0.12345678901234567')), -0.12345678901234567);
  for (const value of [7, '7', null, undefined, '9007199254740993']) t.equal(unmark(value), value);
  for (const source of ['7', '0x20000000000001', '1_000_000_000_000_000', '+9007199254740993', ''])
    t.equal(markLong(source), undefined, source);
  t.end();
});
