import { z } from 'zod';
import { CATALOGUE } from '../catalogue.js';
import type { ErrorRow } from './page.js';

const example = z.object({ value: z.object({ code: z.string(), status: z.number(), message: z.string() }) });
const shape = z.object({
  components: z.object({
    responses: z.record(
      z.string(),
      z.object({
        content: z.record(z.string(), z.object({ examples: z.record(z.string(), z.unknown()).optional() })).optional(),
      }),
    ),
  }),
});

/** Every error a client can meet: the gateway's catalogue, and what the contract shows of the upstreams. */
export function errorRows(document: string): readonly ErrorRow[] {
  const rows = new Map<string, ErrorRow>(Object.entries(CATALOGUE).map(([code, entry]) => [code, { code, ...entry }]));
  const { components } = shape.parse(JSON.parse(document));
  for (const { content = {} } of Object.values(components.responses)) {
    for (const { examples = {} } of Object.values(content)) {
      for (const one of Object.values(examples)) {
        const parsed = example.safeParse(one);
        if (parsed.success && !rows.has(parsed.data.value.code)) rows.set(parsed.data.value.code, parsed.data.value);
      }
    }
  }
  return [...rows.values()].sort((one, other) => one.status - other.status || one.code.localeCompare(other.code));
}
