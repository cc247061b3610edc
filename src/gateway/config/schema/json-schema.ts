import { z } from 'zod';
import { plansFile } from './plans.js';
import { gatewayFile } from './gateway.js';

/** The part of JSON Schema that zod generates for the configuration files. */
export interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
  readonly default?: unknown;
}

/** Returns the files of `config/schema/` with their contents; editors check the YAML with them. */
export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['gateway.schema.json', render(gatewayFile, 'Settings of the Petgate gateway')],
    ['plans.schema.json', render(plansFile, 'Plans of the Petgate gateway')],
  ]);
}

/** Returns the JSON Schema of what people write, before durations and sizes become numbers. */
export function inputSchema(schema: z.ZodType): Node {
  return z.toJSONSchema(schema, { io: 'input' }) as Node;
}

/** Returns the node itself if it is a mapping, or the branch of its `anyOf` that is; undefined if there is none. */
export function mappingOf(node: Node): Node | undefined {
  if (node.properties !== undefined || typeof node.additionalProperties === 'object') return node;
  return node.anyOf?.find((branch) => branch.properties !== undefined);
}

function render(schema: z.ZodType, title: string): string {
  return `${JSON.stringify({ title, ...inputSchema(schema) }, null, 2)}\n`;
}
