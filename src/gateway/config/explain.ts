import type { z } from 'zod';
import { inputSchema, mappingOf, type Node } from './schema/json-schema.js';
import { at, type Layers } from './files/layers.js';
import { loadSources } from './load.js';
import { plansFile } from './schema/plans.js';
import { renderLocation } from './files/problem.js';
import { gatewayFile } from './schema/gateway.js';
import type { Path } from './files/yaml-file.js';

/** A setting as people write it, and its source. */
interface ExplainedSetting {
  /** `store.deadline`; plans begin with `plans.`. */
  readonly path: string;
  /** `100ms`; passwords are shown as `***`, unset values as null. */
  readonly value: unknown;
  /** `config/gateway.yaml:12`, `environment variable PORT` or `default`. */
  readonly source: string;
}

/** Every setting with its value and source, in the order of the schema. Throws ConfigError. */
export function explainSettings(environment: NodeJS.ProcessEnv): ExplainedSetting[] {
  const { settings, gateway, plans } = loadSources(environment, 'unread');
  const rows = explain(gateway, gatewayFile, '').filter(({ path }) => path !== 'extends');
  // The schema has no defaults for these paths: they depend on where the program is installed.
  const paths = new Map([
    ['data', settings.data],
    ['contract', settings.contract],
  ]);
  const complete = rows.map((row) => ({ ...row, value: paths.get(row.path) ?? row.value }));
  return [...complete, ...explain(plans, plansFile, 'plans.')];
}

function explain(layers: Layers, schema: z.ZodType, prefix: string): ExplainedSetting[] {
  return leavesOf(inputSchema(schema), layers.value, []).map(({ path, fallback }) => {
    const said = at(layers.value, path);
    const location = layers.decides(path)?.locate(path, 'value');
    return {
      path: prefix + path.map(String).join('.'),
      value: masked(path, said ?? fallback ?? null),
      source: location === undefined ? 'default' : renderLocation(location),
    };
  });
}

/** The settings below `node`; for a mapping with free names, those in `value`. */
function leavesOf(node: Node, value: unknown, path: Path): { path: Path; fallback: unknown }[] {
  const said = at(value, path);
  const mapping = said === undefined || typeof said === 'object' ? mappingOf(node) : undefined;
  if (mapping === undefined) return [{ path, fallback: node.default }];
  if (mapping.properties !== undefined) {
    return Object.entries(mapping.properties).flatMap(([key, child]) => leavesOf(child, value, [...path, key]));
  }
  const free = mapping.additionalProperties;
  if (typeof free !== 'object' || said === undefined) return [];
  return Object.keys(said as object).flatMap((key) => leavesOf(free, value, [...path, key]));
}

/** Hides secrets in a value; of a webhook's address, shows only the origin. */
function masked(path: Path, value: unknown): unknown {
  if (typeof value === 'string' && path.join('.') === 'events.url') return `${new URL(value).origin}/***`;
  return typeof value === 'string' ? maskedAddress(value) : value;
}

/** Hides user, password and options in a store's address; other text stays. */
export function maskedAddress(text: string): string {
  if (!/^(?:rediss?(?:\+[a-z]+)?|postgres(?:ql)?):/.test(text)) return text;
  const [start, end] = [text.indexOf('//') + 2, text.lastIndexOf('@')];
  const masked = end > start ? `${text.slice(0, start)}***${text.slice(end)}` : text;
  return masked.replace(/\?.*/, '?***');
}
