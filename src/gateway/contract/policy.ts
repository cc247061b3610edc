import { z } from 'zod';
import { problemsOf } from '../config/files/issues.js';
import type { Path } from '../config/files/yaml-file.js';
import { duration, LARGEST_BODY, LONGEST, mapping, size } from '../config/schema/values.js';
import { cost } from './operation/cost.js';
import type { Findings } from './document/findings.js';

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'must be a date-time such as 2030-12-05T00:00:00Z, in quotes',
});
const visible = /^[\x21\x23-\x3b\x3d\x3f-\x7e]+$/;

/** `x-petgate` of a document, a path or an operation. Defaults: the upstream `default`, cost 1. */
const policy = mapping(
  {
    upstream: z
      .string({ error: 'must name the upstream, or gateway' })
      .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a name of lower-case letters, digits, - and _, such as pets'),
    cost,
    scope: z
      .string({ error: 'must be a scope such as pets:read, or null' })
      .regex(/^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$/, 'must be a scope such as pets:read')
      .nullable(),
    stability: z.enum(['experimental', 'beta'], { error: 'must be experimental, beta or null' }).nullable(),
    websocket: z.boolean({ error: 'must be true or false' }),
    deadline: duration('1ms', LONGEST),
    body_size: size('1B', LARGEST_BODY),
    stream: z.boolean({ error: 'must be true or false' }),
  },
  'must be a mapping such as { upstream: pets, cost: 2, scope: pets:read }',
).partial();
export type Policy = z.output<typeof policy>;

/** When an operation is deprecated and removed, and links to what replaces it. */
const lifetime = z.object({
  'x-deprecated-at': time.optional(),
  'x-sunset': time.optional(),
  'x-links': z
    .record(
      z.string().regex(/^[a-z][a-z0-9.-]*$/, 'must be a link relation such as sunset'),
      z.string().regex(visible, 'must be an address without spaces, quotes and angle brackets'),
    )
    .optional(),
});
type Lifetime = z.output<typeof lifetime>;

const NO_POLICY: Policy = {};
const NO_LIFETIME: Lifetime = {};

/** Reads `x-petgate` of the holder at `path`. */
export function readPolicy(holder: Readonly<Record<string, unknown>>, path: Path, findings: Findings): Policy {
  const said = holder['x-petgate'];
  return said === undefined ? NO_POLICY : (checked(policy, said, [...path, 'x-petgate'], findings) ?? NO_POLICY);
}

export function readLifetime(operation: object, path: Path, findings: Findings): Lifetime {
  if (!('x-sunset' in operation || 'x-deprecated-at' in operation || 'x-links' in operation)) return NO_LIFETIME;
  return checked(lifetime, operation, path, findings) ?? NO_LIFETIME;
}

function checked<T extends z.ZodType>(schema: T, said: unknown, path: Path, findings: Findings): z.output<T> | null {
  const parsed = schema.safeParse(said);
  if (parsed.success) return parsed.data;
  findings.addProblems(
    problemsOf(parsed.error.issues, {
      location: (inner, part) => findings.location([...path, ...inner], part),
      says: (inner) => findings.locate([...path, ...inner], 'value') !== undefined,
    }).map((problem) => ({ ...problem, path: [...path, problem.path].map(String).join('.').replace(/\.$/, '') })),
  );
  return null;
}

/** Returns headers of every response, flat: Deprecation (RFC 9745), Sunset (RFC 8594), Link (RFC 8288), X-Stability. */
export function fixedHeaders(lifetime: Lifetime, { stability }: Policy): readonly string[] {
  const headers: string[] = [];
  const deprecatedAt = lifetime['x-deprecated-at'];
  if (deprecatedAt !== undefined) headers.push('Deprecation', `@${Math.floor(Date.parse(deprecatedAt) / 1000)}`);
  const sunset = lifetime['x-sunset'];
  // `toUTCString` returns the IMF-fixdate of RFC 9110.
  if (sunset !== undefined) headers.push('Sunset', new Date(sunset).toUTCString());
  const links = Object.entries(lifetime['x-links'] ?? {}).map(([relation, target]) => `<${target}>; rel="${relation}"`);
  if (links.length > 0) headers.push('Link', links.join(', '));
  if (stability !== undefined && stability !== null) headers.push('X-Stability', stability);
  return headers;
}
