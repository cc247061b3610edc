import { z } from 'zod';
import { MAX_COST } from '../admission/bucket.js';
import { duration, LONGEST, mapping, whole } from '../config/schema/values.js';

/** The parts of the OpenAPI document that the gateway reads; redocly checks the rest. */
const time = z.iso.datetime({ offset: true, error: 'must be a date-time such as 2030-12-05T00:00:00Z, in quotes' });
const visible = /^[\x21\x23-\x3b\x3d\x3f-\x7e]+$/;

const extension = mapping(
  {
    upstream: z
      .string({ error: 'must name the upstream, or gateway' })
      .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a name of lower-case letters, digits, - and _, such as pets'),
    cost: whole(0, MAX_COST),
    scope: z
      .string({ error: 'must be a scope such as pets:read, or null' })
      .regex(/^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$/, 'must be a scope such as pets:read')
      .nullable(),
    stability: z.enum(['experimental', 'beta'], { error: 'must be experimental, beta or null' }).nullable(),
    websocket: z.boolean({ error: 'must be true or false' }).optional(),
    deadline: duration('1ms', LONGEST).optional(),
  },
  'must be { upstream, cost, scope, stability }',
);

const servers = z
  .array(
    z.looseObject({
      url: z.string({ error: 'must be an address' }),
      variables: z.record(z.string(), z.looseObject({ default: z.string({ error: 'must be text' }) })).optional(),
    }),
  )
  .min(1, 'must list a server');

const operation = z
  .looseObject({
    // `unmatched` is what the ledger calls requests that fit no operation.
    operationId: z
      .string({ error: 'must name the operation, such as listPets' })
      .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be letters, digits and _, at most 64')
      .refine((id) => id !== 'unmatched', 'unmatched is taken; choose another name'),
    security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
    requestBody: z.looseObject({}).optional(),
    parameters: z.array(z.unknown()).optional(),
    deprecated: z.boolean().optional(),
    'x-petgate': extension,
    'x-deprecated-at': time.optional(),
    'x-sunset': time.optional(),
    'x-links': z
      .record(
        z.string().regex(/^[a-z][a-z0-9.-]*$/, 'must be a link relation such as sunset'),
        z.string().regex(visible, 'must be an address without spaces, quotes and angle brackets'),
      )
      .optional(),
  })
  .refine((it) => it.deprecated === true || (it['x-deprecated-at'] === undefined && it['x-sunset'] === undefined), {
    path: ['deprecated'],
    error: 'must be true where x-deprecated-at or x-sunset stands',
  });

/** Methods a path may have, in the order of Allow. TRACE and CONNECT are never served. */
export const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;

const pathItem = mapping({
  get: operation.optional(),
  head: operation.optional(),
  post: operation.optional(),
  put: operation.optional(),
  patch: operation.optional(),
  delete: operation.optional(),
  options: operation.optional(),
  servers: servers.optional(),
  parameters: z.array(z.unknown()).optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
});

export const documentShape = z.looseObject({
  openapi: z.string({ error: 'must be the version of OpenAPI' }).regex(/^3\.1\./, 'must be 3.1'),
  servers,
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  paths: z.record(z.string().startsWith('/', 'must begin with /'), pathItem, { error: 'must be the paths there are' }),
});

export type ContractDocument = z.infer<typeof documentShape>;
export type DocumentOperation = z.infer<typeof operation>;
export type Servers = z.infer<typeof servers>;
