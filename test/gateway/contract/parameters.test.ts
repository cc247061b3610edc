import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { createFits } from '../../../src/gateway/contract/parameters.js';

/** What the operation at `/a/{x}` says of a path, with this schema. */
function fitsOf(t: Test, schema: object, more: object = {}): (value: string) => boolean {
  const path = join(t.testdir({}), 'openapi.yaml');
  const operation = {
    operationId: 'op',
    'x-petgate': { upstream: 'pets', cost: 1, scope: null, stability: null },
    parameters: [{ $ref: '#/components/parameters/X' }],
  };
  // JSON is YAML too.
  writeFileSync(
    path,
    JSON.stringify({
      openapi: '3.1.0',
      servers: [{ url: '/v1' }],
      paths: {
        '/a/{x}/b/{y}': {
          get: operation,
          parameters: [{ name: 'y', in: 'path', required: true, schema: { type: 'string', enum: ['y'] } }],
          ...more,
        },
      },
      components: {
        schemas: { X: schema },
        parameters: { X: { name: 'x', in: 'path', required: true, schema: { $ref: '#/components/schemas/X' } } },
      },
    }),
  );
  const [found] = loadContract(path).routes.operations;
  const fits = createFits(found!.parameters);
  return (value) => fits(`/v1/a/${value}/b/y`);
}

function check(t: Test, schema: object, good: readonly string[], bad: readonly string[]): void {
  const fits = fitsOf(t, schema);
  for (const value of good) t.ok(fits(value), `${JSON.stringify(schema)} takes ${value}`);
  for (const value of bad) t.notOk(fits(value), `${JSON.stringify(schema)} refuses ${value}`);
}

t.test('a whole number is one way of writing it, within its bounds', (t) => {
  const forms = [
    'abc',
    '01',
    '+1',
    '-0',
    '1.0',
    '1e0',
    '0x1',
    '%31',
    '1%20',
    ' 1',
    '1;a=b',
    '１',
    '',
    '1_0',
    'NaN',
    'Infinity',
  ];
  check(
    t,
    { type: 'integer', format: 'int64', minimum: 1 },
    ['1', '9007199254740993', '9223372036854775807'],
    ['0', '-1', '9223372036854775808', '99999999999999999999', ...forms],
  );
  check(
    t,
    { type: 'integer' },
    ['0', '-1', '-9223372036854775808', '9223372036854775807'],
    ['-9223372036854775809', '9223372036854775808', ...forms],
  );
  check(t, { type: 'integer', format: 'int32' }, ['2147483647', '-2147483648'], ['2147483648', '-2147483649']);
  check(t, { type: 'integer', minimum: -2, maximum: 2 }, ['-2', '0', '2'], ['-3', '3']);
  check(t, { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 3 }, ['1', '2'], ['0', '3']);
  check(t, { type: 'integer', minimum: 0.5, maximum: 1.5, description: 'one', example: 1 }, ['1'], ['0', '2']);
  t.end();
});

t.test('a text is what its escapes stand for, and never two segments', (t) => {
  check(t, { type: 'string' }, ['a', '1;x=y', '%20', '%C3%A9', '...', '~'], ['%2F', 'a%2Fb', '..%5C', '%FF', '%C3']);
  check(t, { type: 'string', enum: ['page.css', 'é'] }, ['page.css', '%C3%A9'], ['page.cs', 'PAGE.css', 'page.css%20']);
  check(
    t,
    { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 3 },
    ['ab', 'abc'],
    ['a', 'abcd', 'ab1', 'ab%0A'],
  );
  check(t, { type: 'string', format: 'uuid' }, ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567', 'x']);
  t.end();
});

t.test('an operation may say otherwise than its path', (t) => {
  const ofPath = (name: string): object => ({
    parameters: [
      { name: 'y', in: 'path', schema: { type: 'string', enum: ['y'] } },
      { name, in: 'path', schema: { type: 'string' } },
      { name: 'x', in: 'query', schema: { type: 'object' } },
    ],
  });
  t.notOk(fitsOf(t, { type: 'integer' }, ofPath('x'))('a'), 'the operation, of the same name');
  t.ok(fitsOf(t, { type: 'integer' }, ofPath('x'))('1'));
  t.end();
});
