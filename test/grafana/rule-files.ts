import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';

const ALERTS = join(packageRoot, 'grafana/alerts');

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Every rule of grafana/alerts. */
export function allRules(): readonly Rule[] {
  return yamlFiles(ALERTS).flatMap((path) =>
    (parse(readFileSync(path, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules),
  );
}

/** Every alert of grafana/alerts. */
export function alerts(): readonly (Rule & { readonly alert: string })[] {
  return allRules().flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
}

export function yamlFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(folder, name));
}
