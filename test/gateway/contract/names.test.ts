import t from 'tap';
import { nameOperations } from '../../../src/gateway/contract/names.js';
import { isOperationName } from '../../../src/shared/names/operation-name.js';

const operation = (operationId: unknown, template = '/a', upstream = 'default') => ({
  operationId,
  method: 'GET',
  template,
  upstream,
  at: ['paths', template, 'get'],
});

function namesOf(...operations: readonly ReturnType<typeof operation>[]) {
  const warnings: string[] = [];
  const names = nameOperations(operations, (path, _part, message) => warnings.push(`${path.join('.')}: ${message}`));
  return { names, warnings };
}

t.test('an operation is called as the document says, whatever characters that has', (t) => {
  const ids = ['listPets', 'a"b\\c|d', '__proto__', 'prüfe 日本', 'x'.repeat(200), '🐈'.repeat(50), ' '];
  const { names, warnings } = namesOf(...ids.map((id) => operation(id)));
  t.same(names, ids);
  t.same(warnings, []);
  t.end();
});

t.test('without a name it is called by method and path', (t) => {
  t.same(namesOf(operation(undefined, '/pets/{petId}')), { names: ['GET /pets/{petId}'], warnings: [] });
  t.end();
});

t.test('a name that stands twice, is one of ours or none is replaced, with a warning', (t) => {
  const twice = namesOf(operation('get', '/a'), operation('get', '/b'), operation('other', '/c'));
  t.same(twice.names, ['GET /a', 'GET /b', 'GET /c']);
  t.match(twice.warnings, [
    /^paths\.\/a\.get\.operationId: "get" is the operationId of 2 operations; the operation is called "GET \/a"/,
    /2 operations/,
    /"other" is a name of Petgate's own/,
  ]);
  for (const id of ['unmatched', 'malformed', 'options', '*', 'getOwnUsage', 'POST /b', 'a\nb', '', 7, 'é'.repeat(101)])
    t.same(namesOf(operation(id)).names, ['GET /a'], String(id));
  t.same(namesOf(operation('getOwnUsage', '/a', 'gateway')).names, ['getOwnUsage'], 'ours');
  t.end();
});

t.test('a path too long for a name is told apart by its hash', (t) => {
  const long = `/${'é'.repeat(150)}`;
  const { names } = namesOf(operation(undefined, `${long}1`), operation(undefined, `${long}2`));
  t.equal(new Set(names).size, 2);
  for (const name of names) {
    t.ok(isOperationName(name));
    t.match(name, /^GET \/_{145}…[0-9a-f]{16}$/);
  }
  t.end();
});
