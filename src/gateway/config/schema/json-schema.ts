import { z } from 'zod';
import { plansFile } from './plans.js';
import { gatewayFile } from './gateway.js';
import type { Path } from '../files/yaml-file.js';

/** As much of JSON Schema as zod makes of our files. */
export interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
  readonly default?: unknown;
}

/** The files of `config/schema/` and what must stand in them; editors check the YAML with them. */
export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['gateway.schema.json', render(gatewayFile, 'Settings of the Petgate gateway')],
    ['plans.schema.json', render(plansFile, 'Plans of the Petgate gateway')],
  ]);
}

/** The JSON Schema of what people write, before durations and sizes become numbers. */
export function inputSchema(schema: z.ZodType): Node {
  return z.toJSONSchema(schema, { io: 'input' }) as Node;
}

/** The node for `path`; undefined where the schema knows nothing of it. */
function nodeAt(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const key of path) node = node === undefined ? undefined : childOf(node, String(key));
  return node;
}

/** The keys that may stand at `path`; empty where any or none may. */
export function knownKeys(root: Node, path: Path): readonly string[] {
  const node = nodeAt(root, path);
  return node === undefined ? [] : Object.keys(mappingOf(node)?.properties ?? {});
}

/** The branch that is a mapping: the node itself, or one it may be. */
export function mappingOf(node: Node): Node | undefined {
  if (node.properties !== undefined || typeof node.additionalProperties === 'object') return node;
  return node.anyOf?.find((branch) => branch.properties !== undefined);
}

function childOf(node: Node, key: string): Node | undefined {
  const mapping = mappingOf(node);
  if (mapping?.properties !== undefined && Object.hasOwn(mapping.properties, key)) return mapping.properties[key];
  return typeof mapping?.additionalProperties === 'object' ? mapping.additionalProperties : undefined;
}

function render(schema: z.ZodType, title: string): string {
  return `${JSON.stringify({ title, ...inputSchema(schema) }, null, 2)}\n`;
}
