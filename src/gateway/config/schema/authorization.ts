import { z } from 'zod';
import { choice, mapping, path, text } from './values.js';

/** Header fields that the gateway sets itself, or that frame a message. */
export const SAID_BY_GATEWAY =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|x-request-id|traceparent|tracestate|x-(?:petgate|forwarded)-.*)$/i;

const secret = mapping({
  scheme: choice('bearer', 'basic')
    .optional()
    .describe(
      'How Authorization says the secret; of basic it is user:password. Left out: bearer, unless header is said.',
    ),
  header: text('must be the name of a field, such as X-API-Key', /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/)
    .refine((name) => !SAID_BY_GATEWAY.test(name), 'the gateway says this field itself; name another')
    .optional()
    .describe('The field that has the secret as it is, such as X-API-Key.'),
  file: path.optional().describe('The file with the secret, relative to this file; read again when it changes.'),
  variable: text(
    'must be the name of a variable that is not one of ours, such as BILLING_TOKEN',
    /^(?!PETGATE_)[A-Za-z_][A-Za-z0-9_]{0,99}$/,
  )
    .optional()
    .describe('The variable of the environment with the secret.'),
}).superRefine(({ scheme, header, file, variable }, context) => {
  const refuse = (key: string, message: string): void => {
    context.addIssue({ code: 'custom', path: [key], message });
  };
  if (file === undefined && variable === undefined)
    refuse('file', 'must be the file with the secret; or name a variable');
  if (file !== undefined && variable !== undefined) refuse('variable', 'file says it already; remove one of the two');
  if (scheme !== undefined && header !== undefined)
    refuse('header', 'scheme is for Authorization; remove one of the two');
});

/** `authorization` of an upstream. The secrets themselves are in files or variables, never in the settings. */
export const authorization = z.union([choice('none', 'internal', 'client'), secret], {
  error: 'must be none, internal, client, or a mapping such as { scheme: bearer, file: secrets/token }',
});
export type SecretSource = z.output<typeof secret>;
