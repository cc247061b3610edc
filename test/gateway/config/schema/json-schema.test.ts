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
