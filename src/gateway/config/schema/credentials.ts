import { z } from 'zod';
import type { CredentialLocation } from '../../refusals/credential-location.js';
import { SAID_BY_GATEWAY } from './authorization.js';
import { choice, mapping, text } from './values.js';

const EXAMPLES = 'bearer, { scheme: token }, { header: X-API-Key }, { query: api_key } or { basic: username }';
/** Header fields that frame or describe the message, or that are logged: a key in one of them would be in the log. */
const TAKEN =
  /^(?:accept.*|access-control-.*|content-.*|cookie|forwarded|http2-settings|if-.*|origin|proxy-.*|range|referer|sec-.*|via|x-real-ip)$/i;

/** Authorization schemes that do not send a key as it is (registered with IANA, or of Microsoft and Amazon). */
const PROOFS = /^(?:aws4-.*|digest|dpop|gnap|hoba|mutual|negotiate|ntlm|oauth|scram-.*|vapid)$/i;

const header = text('must be the name of a header field, such as X-API-Key', /^[A-Za-z0-9._-]{1,100}$/).refine(
  (name) => [SAID_BY_GATEWAY, TAKEN].every((names) => !names.test(name.replaceAll('_', '-'))),
  'this field has another meaning; name one of its own, such as X-API-Key',
);
const query = text(
  'must be the name of a parameter of the query, such as api_key: letters, digits, and any of -.:@_~',
  /^[A-Za-z0-9.:@_~-]{1,100}$/,
);
const scheme = text(
  'must be the word before the key in Authorization, such as token or ApiKey',
  /^[A-Za-z][A-Za-z0-9-]{0,30}$/,
)
  .refine((word) => !/^bearer$/i.test(word), 'write bearer, without scheme')
  .refine((word) => !/^basic$/i.test(word), 'write { basic: username } or { basic: password }')
  .refine((word) => !PROOFS.test(word), 'clients send a proof with this scheme, not a key; name another one');
const named = mapping({
  scheme: scheme.optional(),
  header: header.optional(),
  query: query.optional(),
  basic: choice('username', 'password').optional(),
})
  .refine((given) => Object.keys(given).length === 1)
  .transform((given) => given as CredentialLocation);

/** An entry of `credentials` in gateway.yaml. */
export const credentialLocation = z.union([z.literal('bearer'), named], { error: `must be ${EXAMPLES}` });

const nameOf = (location: CredentialLocation): string =>
  (location === 'bearer' ? location : Object.entries(location).flat().join(' '))
    .toLowerCase()
    .replace(/^basic.*/, 'basic');

/** `credentials` of gateway.yaml. */
export const credentials = z
  .array(credentialLocation, { error: `must be a list of ${EXAMPLES}` })
  .min(1, `must name at least one of ${EXAMPLES}`)
  .superRefine((locations, context) => {
    const names = locations.map(nameOf);
    names.forEach((name, index) => {
      if (names.indexOf(name) < index)
        context.addIssue({ code: 'custom', path: [index], message: 'is listed twice; remove one' });
    });
  });
