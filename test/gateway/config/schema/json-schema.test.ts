import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { schemaFiles } from '../../../../src/gateway/config/schema/json-schema.js';
import { packageRoot } from '../../../../src/shared/package-root.js';

const config = join(packageRoot, 'config');

t.test('the schemas editors use are those the loader checks with', (t) => {
  t.same(readdirSync(join(config, 'schema')).sort(), [...schemaFiles().keys()].sort());
  for (const [name, text] of schemaFiles()) {
    t.equal(
      readFileSync(join(config, 'schema', name), 'utf8'),
      text,
      `${name}: run node dist/src/gateway/config/schema/write.js`,
    );
  }
  t.end();
});

t.test('every settings file names the schema that stands beside it', (t) => {
  const names = new Map([
    ['gateway.yaml', 'gateway'],
    ['production.yaml', 'gateway'],
    ['staging.yaml', 'gateway'],
    ['plans.yaml', 'plans'],
  ]);
  for (const [file, schema] of names) {
    const [first] = readFileSync(join(config, file), 'utf8').split('\n');
    t.equal(first, `# yaml-language-server: $schema=schema/${schema}.schema.json`);
  }
  t.end();
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Names of all settings in a schema, with those of parts that repeat. */
function namesIn(schema: Schema | boolean | undefined): readonly string[] {
  if (schema === undefined || typeof schema === 'boolean') return [];
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  const parts = [...Object.values(properties), additionalProperties, items, ...anyOf, ...oneOf];
  return [...Object.keys(properties), ...parts.flatMap(namesIn)];
}

t.test('config/gateway.yaml, which is the reference, names every setting', (t) => {
  const names = namesIn(JSON.parse(schemaFiles().get('gateway.schema.json')!) as Schema);
  t.ok(names.length > 80, `${names.length} settings`);
  const reference = readFileSync(join(config, 'gateway.yaml'), 'utf8');
  const isNamed = (name: string): boolean => new RegExp(`(?<!\\w)${name}(?!\\w)`).test(reference);
  t.strictSame(
    [...new Set(names)].filter((name) => !isNamed(name)),
    [],
  );
  t.end();
});
