import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { ConfigError } from '../../../../src/gateway/config/files/problem.js';
import { loadContract } from '../../../../src/gateway/contract/load.js';
import { readContract, readDocument, renderJson } from '../../../../src/gateway/contract/document/source.js';
import { packageRoot } from '../../../../src/shared/package-root.js';

const SHIPPED = join(packageRoot, 'config/openapi.yaml');
const YAML = readFileSync(SHIPPED, 'utf8');

/** A contract in a folder of its own, with this beside it as its JSON form. */
function contractOf(t: Test, yaml: string, json?: (path: string) => string): string {
  const path = join(t.testdir({}), 'openapi.yaml');
  writeFileSync(path, yaml);
  if (json !== undefined) writeFileSync(path.replace('.yaml', '.json'), json(path));
  return path;
}

t.test('the JSON form that ships is made of the contract that ships', (t) => {
  const shipped = readFileSync(join(packageRoot, 'config/openapi.json'), 'utf8');
  t.ok(shipped === renderJson(SHIPPED), 'otherwise run node dist/src/gateway/contract/write.js');
  t.end();
});

t.test('the JSON form gives the same contract as the YAML alone', (t) => {
  const [fromYaml, fromJson] = [loadContract(contractOf(t, YAML)), loadContract(SHIPPED)];
  t.equal(fromJson.document.toString(), fromYaml.document.toString());
  t.same(fromJson.routes.operations, fromYaml.routes.operations);
  t.end();
});

t.test('the JSON form is what is read', (t) => {
  const path = contractOf(t, 'openapi: 3.1.0\npaths: {}\n', (path) => renderJson(path).replace('3.1.0', '3.1.1'));
  t.match(readContract(path).value, { openapi: '3.1.1' });
  t.end();
});

t.test('a JSON form of other bytes, or one that is broken, says nothing', (t) => {
  for (const json of [() => renderJson(SHIPPED), () => '{"x-petgate-source":', () => '[]', () => 'null']) {
    const path = contractOf(t, 'openapi: 3.1.9\npaths: {}\n', json);
    t.strictSame(readContract(path).value, { openapi: '3.1.9', paths: {} });
  }
  t.end();
});

t.test('a mistake is found in its line of the YAML', (t) => {
  const yaml = YAML.replace("scope: 'pets:write'", 'scope: 7');
  const line = yaml.slice(0, yaml.indexOf('scope: 7')).split('\n').length;
  for (const json of [undefined, renderJson]) {
    const path = contractOf(t, yaml, json);
    try {
      loadContract(path);
      t.fail('it was taken');
    } catch (error) {
      const { problems } = error as ConfigError;
      t.match(problems, [{ line, message: /^must be a scope such as pets:read/ }]);
    }
  }
  t.end();
});

t.test('a JSON document is found in its lines too, and says what is wrong with it as JSON', (t) => {
  const path = join(t.testdir({}), 'contract.json');
  writeFileSync(path, '{"openapi": "3.0.3",\n "x": "a\\"}{[", "paths": {"/a": {\n  "get": [1, {"b": null}]}}}');
  const { value, locate } = readDocument(path);
  t.match(value, { paths: { '/a': { get: [1, { b: null }] } } });
  t.match(locate([], 'value'), { line: 1, column: 1 });
  t.match(locate(['openapi'], 'value'), { line: 1, column: 13 });
  t.match(locate(['x'], 'key'), { line: 2, column: 2 });
  t.match(locate(['paths', '/a', 'get'], 'key'), { line: 3, column: 3 });
  t.match(locate(['paths', '/a', 'get', 1, 'b'], 'value'), { line: 3, column: 20 });
  for (const nowhere of [['y'], ['paths', '/a', 'get', 2], ['openapi', 'z']])
    t.equal(locate(nowhere, 'value'), undefined);

  writeFileSync(path, '{"openapi": "3.0.3",\n "paths": {"/a": {} "/b": {}}}');
  t.throws(() => readDocument(path), /contract\.json:2:/);
  t.end();
});

t.test('what readers would take differently is refused with its place, in a sentence', (t) => {
  for (const [name, text, where] of [
    [
      'a.json',
      '{"openapi": "3.1.0", "paths": {"/a": {"get": {}},\n "/b": {}, "/\\u0061": {}}}',
      /:2:12: \/a: "\/a" is here twice/,
    ],
    ['a.json', '{"openapi": "3.1.0", "x": [{"a": 1, "a": 1}], "paths": {}}', /:1:37: a: "a" is here twice/],
    ['a.yaml', 'openapi: 3.1.0\npaths: &p\n  /a: { get: *p }\n', /:3:14: \*p is used inside &p, which never ends/],
  ] as const) {
    const path = join(t.testdir({}), name);
    writeFileSync(path, text);
    t.throws(() => loadContract(path), where, text);
  }
  const path = join(t.testdir({}), 'a.json');
  writeFileSync(path, '{"openapi": "3.1.0", "a": {"b": "\\"c\\": {"}, "b": ["a", "a", {"a": {"a": 1}}], "paths": {}}');
  t.doesNotThrow(() => loadContract(path), 'names of other objects, and values');
  t.end();
});

t.test('a version in YAML stays the text that it is', (t) => {
  const path = contractOf(t, 'openapi: 3.1.0\ninfo: { title: t, version: 1.10 }\nx: { version: 1.10 }\npaths: {}\n');
  const { document } = loadContract(path);
  t.match(JSON.parse(document.toString()), { info: { version: '1.10' }, x: { version: 1.1 } });
  t.end();
});
