import { z } from 'zod';
import { originFault } from './origin.js';
import { bool, duration, mapping, text, type Immutable } from './values.js';

const origin = z
  .string({ error: 'must be an origin such as https://app.example.com' })
  .superRefine((given, context) => {
    const fault = originFault(given);
    if (fault !== null) context.addIssue(fault);
  });
const field = text(
  'must be the name of a header field, such as X-Request-Id; every field is named, * is none',
  /^(?!\*$)[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/,
);
const fields = (...names: readonly string[]) =>
  z.array(field, { error: 'must be a list of header fields' }).prefault([...names]);
const ORIGINS = "must be a list of origins such as https://app.example.com, or '*'";

/** `cors` of gateway.yaml. */
export const cors = mapping({
  origins: z
    .union([z.literal('*'), z.array(origin).min(1, `${ORIGINS}; to allow none, leave cors out`)], { error: ORIGINS })
    .describe(
      'Origins whose pages may use the API: names, patterns such as https://*.example.com (one label or more), or ' +
        "'*' for all.",
    ),
  headers: fields(
    'Authorization',
    'Content-Type',
    'If-None-Match',
    'X-Request-Id',
    'traceparent',
    'tracestate',
  ).describe('Fields that pages may send, in addition to credentials.'),
  expose: fields(
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'X-Request-Id',
    'Link',
    'Location',
    'Allow',
    'Deprecation',
    'Sunset',
    'X-Stability',
    'WWW-Authenticate',
    'ETag',
    'Date',
  ).describe('Fields that pages may read, in addition to those that are always readable.'),
  max_age: duration('0s', '24h')
    .refine((ms) => ms % 1000 === 0, 'must be whole seconds, such as 10m')
    .prefault('10m')
    .describe('How long a browser may remember what a preflight said.'),
  credentials: bool.prefault(false).describe('Whether pages may send cookies along. Keys need none.'),
}).refine(({ origins, credentials }) => !(credentials && origins === '*'), {
  path: ['credentials'],
  error: "must be false when origins is '*': browsers refuse the two together, so name the origins",
});
export type CorsSettings = Immutable<z.output<typeof cors>>;
