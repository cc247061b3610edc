import fc from 'fast-check';
import t from 'tap';
import { readFlatObject } from '../../src/pets/json.js';
import { Refusal } from '../../src/pets/refusal.js';

const read = (text: string): ReturnType<typeof readFlatObject> => readFlatObject(Buffer.from(text));

t.test('numbers keep their text, strings lose their escapes', (t) => {
  t.same(
    read('{"a":1.50e+2,"b":"\\u0041\\t","c":null,"":true}'),
    new Map(
      Object.entries({
        a: { kind: 'number', text: '1.50e+2' },
        b: { kind: 'string', text: 'A\t' },
        c: { kind: 'literal', text: 'null' },
        '': { kind: 'literal', text: 'true' },
      }),
    ),
  );
  t.same(read(' {\t} '), new Map());
  t.end();
});

t.test('a flat object reads to what JSON.parse makes of it', (t) => {
  const seed = Date.now() & 0x7fffffff;
  t.comment(`seed ${seed}`);
  const scalar = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), scalar), fc.nat(3), (object, indent) => {
      const fields = read(JSON.stringify(object, null, indent));
      if (fields instanceof Refusal || fields.size !== Object.keys(object).length) return false;
      return Object.entries(object).every(([name, value]) => {
        const field = fields.get(name);
        return (
          field !== undefined &&
          field.kind !== 'fault' &&
          (field.kind === 'string'
            ? field.text === value
            : Object.is(JSON.parse(field.text) || 0, value || 0) || JSON.parse(field.text) === value)
        );
      });
    }),
    { numRuns: 500, seed },
  );
  t.end();
});

t.test('only the bytes of the body are read, not their buffer', (t) => {
  const whole = Buffer.from('xx{"a":1}yy');
  t.equal((readFlatObject(whole.subarray(2, 9)) as ReadonlyMap<string, unknown>).size, 1);
  t.end();
});
