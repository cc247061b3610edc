import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../../src/gateway/contract/operation/operation.js';
import { withinBudget } from '../../src/gateway/contract/path/pattern.js';
import { holdTo } from '../../src/gateway/contract/path/schema.js';
import { packageRoot } from '../../src/shared/package-root.js';

/** Where `npm test` puts GitHub's document before it starts a test that loads this file (test/contracts/github.mjs). */
export const GITHUB = join(packageRoot, 'dist/contracts/api.github.com.json');
/** For tests that need it: false, or why they are skipped. */
export const NO_GITHUB = existsSync(GITHUB) ? false : "GitHub's document is not there: the registry could not be had";

/**
 * A path of the operation, whose every parameter fits its schema and no text of another path.
 * @param n makes it another one
 */
export function samplePath({ path, parameters }: Operation, n: number): string {
  const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
  return path.replaceAll(/\{([^{}]*)\}/g, (_all, name: string) => {
    const schema = schemas.get(name);
    const { check } = holdTo(schema);
    const { enum: members = [] } = (schema ?? {}) as { readonly enum?: readonly unknown[] };
    const candidates = [
      `zq%2C${n}`,
      `zq-${n}`,
      String(n),
      `${n}.0.1`,
      `sha256:${'a'.repeat(64)}`,
      ...members.map(String),
    ];
    const found = candidates.find((text) => withinBudget(() => check(text, 0, text.length)));
    if (found === undefined) throw new Error(`nothing fits {${name}} of ${path}: ${JSON.stringify(schema)}`);
    return found;
  });
}
