import type { CorsSettings } from '../config/schema/cors.js';
import { fieldOf, type CredentialLocations } from '../refusals/credential-location.js';
import { lowerName, onlyValueOf } from './fields.js';

export type Cors = ReturnType<typeof createCors>;

const ALLOW_ORIGIN = 'Access-Control-Allow-Origin';
/** Caches must not reuse the response for another origin, nor for requests without one. */
const VARY = ['Vary', 'Origin'] as const;

/** Which origins may read responses (Fetch, "CORS protocol"). Built at load time, except for the caller's origin. */
export function createCors(
  { origins, headers, expose, max_age: maxAgeMs, credentials }: CorsSettings,
  locations: CredentialLocations,
) {
  const sent = withFields(headers, locations);
  const rest = [
    'Access-Control-Expose-Headers',
    expose.join(', '),
    ...(credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
  ];
  const preflight = [
    'Access-Control-Allow-Headers',
    sent.join(', '),
    'Access-Control-Max-Age',
    String(maxAgeMs / 1000),
  ];
  // The same for all origins, so that caches may keep it.
  const forAny = [ALLOW_ORIGIN, '*', ...rest];
  const fieldsOf = origins === '*' ? (): readonly string[] => forAny : forListed(origins, rest);
  return {
    /** Fields of any response to a request with these header fields. Both flat: `[name, value, …]`. */
    fieldsFor: fieldsOf,
    /** Further fields of a preflight response; `allow` has the path's methods. Empty for any other OPTIONS. */
    preflightFields(headers: readonly string[], allow: string): readonly string[] {
      const asked =
        onlyValueOf(headers, 'access-control-request-method') !== null && onlyValueOf(headers, 'origin') !== null;
      if (!asked || fieldsOf(headers)[0] !== ALLOW_ORIGIN) return [];
      return ['Access-Control-Allow-Methods', allow, ...preflight];
    },
  };
}

/** The fields that pages may send, including those with keys. */
function withFields(headers: readonly string[], locations: CredentialLocations): readonly string[] {
  const known = new Set(headers.map(lowerName));
  const fields = new Set(locations.flatMap((location) => fieldOf(location) ?? []));
  return [...headers, ...[...fields].filter((name) => !known.has(lowerName(name)))];
}

function forListed(
  origins: readonly string[],
  rest: readonly string[],
): (headers: readonly string[]) => readonly string[] {
  const fieldsOf = (origin: string): readonly string[] => [ALLOW_ORIGIN, origin, ...rest, ...VARY];
  const exact = new Map(origins.filter((origin) => !origin.includes('*')).map((origin) => [origin, fieldsOf(origin)]));
  const patterns = origins.filter((origin) => origin.includes('*')).map(patternOf);
  const pattern = patterns.length === 0 ? null : new RegExp(`^(?:${patterns.join('|')})$`);
  return (headers) => {
    const origin = onlyValueOf(headers, 'origin');
    if (origin === null) return VARY;
    return exact.get(origin) ?? (pattern?.test(origin) === true ? fieldsOf(origin) : VARY);
  };
}

/** `*.` matches one or more labels. */
function patternOf(origin: string): string {
  return origin.replace(/[.+[\]]/g, '\\$&').replace('*\\.', '(?:[a-z0-9_-]+\\.)+');
}

/** Origin fields in the first bytes of an unparsable request, flat. */
export function originIn(packet: Buffer | undefined): string[] {
  const head = packet?.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
  const fields = head.split('\r\n').slice(1);
  return fields.flatMap((field) => {
    const colon = field.indexOf(':');
    return field.slice(0, colon).toLowerCase() === 'origin' ? ['Origin', field.slice(colon + 1).trim()] : [];
  });
}
