/** Where clients send their key: an entry of `credentials` in the settings. */
export type CredentialLocation =
  | 'bearer'
  | { readonly header: string }
  | { readonly query: string }
  | { readonly basic: 'username' | 'password' }
  /** Another Authorization scheme followed by the key, such as `token`. */
  | { readonly scheme: string };

export type CredentialLocations = readonly CredentialLocation[];

/** How the catalogue's messages describe sending a key. */
const CATALOGUED = '"Authorization: Bearer <API_KEY>"';

/** Returns the header field with the key; null if it is in the query. */
export function fieldOf(location: CredentialLocation): string | null {
  if (location === 'bearer' || 'basic' in location || 'scheme' in location) return 'Authorization';
  return 'header' in location ? location.header : null;
}

export function readsAuthorization(location: CredentialLocation): boolean {
  return fieldOf(location)?.toLowerCase() === 'authorization';
}

/** Whether clients send the key only after a challenge. */
export function asksForLogin(location: CredentialLocation): boolean {
  return location !== 'bearer' && 'basic' in location;
}

/**
 * Returns the challenges of WWW-Authenticate (RFC 9110 §11.6.1). A location without a scheme at IANA is `ApiKey`. Basic
 * comes first: Python clients read only the first one, and container registry clients take Bearer for the address of a
 * token server.
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

/** Adapts a message of the catalogue to these locations. */
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

/** Returns arguments for `curl` that send `key`. @param quote turns a text into one shell word */
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

/** Returns the text as one shell word. */
export function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
