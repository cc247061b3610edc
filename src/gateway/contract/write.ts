import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';
import { withErrorTable, withRefusals } from './refusals.js';
import { jsonPath, renderJson } from './document/source.js';

/** Run this file after changes to the contract or the refusal catalogue: `node dist/src/gateway/contract/write.js`. */
function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

const contract = join(packageRoot, 'config/openapi.yaml');
rewrite(contract, withRefusals);
writeFileSync(jsonPath(contract), renderJson(contract));
rewrite(join(packageRoot, 'docs/reference/errors.md'), withErrorTable);
