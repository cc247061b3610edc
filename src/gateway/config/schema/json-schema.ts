import { z } from 'zod';
import { plansFile } from './plans.js';
import { gatewayFile } from './gateway.js';

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

/** The branch that is a mapping: the node itself, or one it may be. */
export function mappingOf(node: Node): Node | undefined {
  if (node.properties !== undefined || typeof node.additionalProperties === 'object') return node;
  return node.anyOf?.find((branch) => branch.properties !== undefined);
}

function render(schema: z.ZodType, title: string): string {
  return `${JSON.stringify({ title, ...inputSchema(schema) }, null, 2)}\n`;
}
