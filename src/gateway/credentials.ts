/** Where clients send their key: one of `credentials` in the settings. */
export type CredentialLocation =
  | 'bearer'
  | { readonly header: string }
  | { readonly query: string }
  | { readonly basic: 'username' | 'password' }
  /** Another scheme of Authorization with the key behind it, such as `token`. */
  | { readonly scheme: string };

export type CredentialLocations = readonly CredentialLocation[];

/** How messages of the catalogue say to send a key. */
const CATALOGUED = '"Authorization: Bearer <API_KEY>"';

/** The header field that has the key; null: it is in the query. */
export function fieldOf(location: CredentialLocation): string | null {
  if (location === 'bearer' || 'basic' in location || 'scheme' in location) return 'Authorization';
  return 'header' in location ? location.header : null;
}

export function readsAuthorization(location: CredentialLocation): boolean {
  return fieldOf(location)?.toLowerCase() === 'authorization';
}

/** Whether clients send the key here only once they were asked for it. */
export function asksForLogin(location: CredentialLocation): boolean {
  return location !== 'bearer' && 'basic' in location;
}

/**
 * The challenges of WWW-Authenticate (RFC 9110 §11.6.1). What is in no scheme of IANA's is `ApiKey`. Basic comes first:
 * Python's clients read the first one alone, and those of registries take Bearer for the address of a token server.
 */
export function challengesOf(locations: CredentialLocations, realm: string, bearerError: string): string {
  const ordered = [...locations.filter(asksForLogin), ...locations.filter((location) => !asksForLogin(location))];
  const challenges = ordered.map((location) => {
    if (location === 'bearer') return `Bearer realm="${realm}"${bearerError}`;
    if ('basic' in location) return `Basic realm="${realm}"`;
    if ('scheme' in location) return `${location.scheme} realm="${realm}"`;
    const [where, name] = Object.entries(location)[0]!;
    return `ApiKey realm="${realm}", ${where}="${name}"`;
  });
  return challenges.join(', ');
}

/** A message of the catalogue, as true of these locations. */
export function worded(message: string, locations: CredentialLocations): string {
  return message.replace(CATALOGUED, () => {
    const words = locations.map((location) => {
      if (location === 'bearer') return CATALOGUED;
      if ('scheme' in location) return `"Authorization: ${location.scheme} <API_KEY>"`;
      if ('basic' in location) return `${location.basic === 'username' ? 'user name' : 'password'} of Basic`;
      return 'header' in location ? `"${location.header}: <API_KEY>"` : `"${location.query}=<API_KEY>" in the query`;
    });
    return words.join(', or as ');
  });
}

/** What follows `curl` to send `key`, for a shell; `quote` makes one word of a text for it. */
export function curlArguments(
  [location = 'bearer']: CredentialLocations,
  url: string,
  key: string,
  quote: (text: string) => string = (text) => `"${text}"`,
): string {
  if (location === 'bearer') return `-H ${quote(`Authorization: Bearer ${key}`)} ${quote(url)}`;
  if ('scheme' in location) return `-H ${quote(`Authorization: ${location.scheme} ${key}`)} ${quote(url)}`;
  if ('basic' in location) return `-u ${quote(location.basic === 'username' ? `${key}:` : `:${key}`)} ${quote(url)}`;
  if ('header' in location) return `-H ${quote(`${location.header}: ${key}`)} ${quote(url)}`;
  return quote(`${url}${url.includes('?') ? '&' : '?'}${location.query}=${key}`);
}
