import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';
import { jsonPath, renderJson } from './source.js';

/** Run after a change to the contract: `node dist/src/gateway/contract/write.js`. */
const path = join(packageRoot, 'config/openapi.yaml');
writeFileSync(jsonPath(path), renderJson(path));
