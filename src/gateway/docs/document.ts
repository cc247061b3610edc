import { z } from 'zod';
import { CATALOGUE } from '../catalogue.js';
import { worded, type CredentialLocations } from '../credentials.js';

/** What the page shows of the contract, beside its operations. */
export interface Described {
  readonly title: string;
  /** Empty where the contract says none. */
  readonly summary: string;
  /** Every error a client can meet: the gateway's catalogue, and what the contract shows of the upstreams. */
  readonly errors: readonly ErrorRow[];
}

export interface ErrorRow {
  readonly code: string;
  readonly status: number;
  readonly message: string;
}

const example = z.object({ value: z.object({ code: z.string(), status: z.number(), message: z.string() }) });
/** What has another form says nothing. */
const content = z.record(z.string(), z.object({ examples: z.record(z.string(), z.unknown()).catch({}) })).catch({});
const responses = z.record(z.string(), z.object({ content }).catch({ content: {} })).catch({});
const shape = z.object({
  info: z
    .object({ title: z.string().catch('API'), summary: z.string().catch('') })
    .catch({ title: 'API', summary: '' }),
  components: z.object({ responses }).catch({ responses: {} }),
});

export function readDocument(document: Buffer, credentials: CredentialLocations): Described {
  const { info, components } = shape.parse(JSON.parse(document.toString()));
  const rows = new Map<string, ErrorRow>(
    Object.entries(CATALOGUE).map(([code, { status, message }]) => [
      code,
      { code, status, message: worded(message, credentials) },
    ]),
  );
  const shown = Object.values(components.responses).flatMap((response) => Object.values(response.content));
  for (const one of shown.flatMap(({ examples }) => Object.values(examples))) {
    const parsed = example.safeParse(one);
    if (parsed.success && !rows.has(parsed.data.value.code)) rows.set(parsed.data.value.code, parsed.data.value);
  }
  const errors = [...rows.values()].sort(
    (one, other) => one.status - other.status || one.code.localeCompare(other.code),
  );
  return { ...info, errors };
}
