import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../shared/package-root.js';
import { schemaFiles } from './json-schema.js';

/** Run after a change to the schemas: `node dist/src/gateway/config/schema/write.js`. */
const folder = join(packageRoot, 'config/schema');
mkdirSync(folder, { recursive: true });
for (const [name, text] of schemaFiles()) writeFileSync(join(folder, name), text);
