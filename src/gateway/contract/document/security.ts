import { credentialLocation } from '../../config/schema/credentials.js';
import type { CredentialLocation, CredentialLocations } from '../../refusals/credential-location.js';
import { follow, isMapping, type Mapping } from './references.js';

/** Returns security schemes for these locations, by name. The document's own are preferred: they may contain more. */
export function schemesOf(document: Mapping, locations: CredentialLocations): Mapping {
  const own = Object.entries(schemesIn(document));
  const schemes: Mapping = {};
  for (const location of locations) {
    const scheme = schemeOf(location);
    const [name, found] = own.find(([, each]) => isAlike(each, scheme)) ?? [freeName(schemes, own), scheme];
    schemes[name] = found;
  }
  return schemes;
}

/** Returns where the document's clients send their key, in its order. Tokens of any issuer count as Bearer. */
export function locationsIn(document: Mapping): CredentialLocations {
  const found = new Map<string, CredentialLocation>();
  for (const scheme of Object.values(schemesIn(document)))
    for (const location of locationsOf(scheme)) {
      const { success, data } = credentialLocation.safeParse(location);
      if (success) found.set(JSON.stringify(data).toLowerCase(), data);
    }
  return [...found.values()];
}

function locationsOf({ type, in: where, name, scheme }: Mapping): readonly unknown[] {
  if (type === 'oauth2' || type === 'openIdConnect') return ['bearer'];
  const word = String(scheme).toLowerCase();
  if (type === 'http') return [word === 'bearer' ? word : word === 'basic' ? { basic: 'username' } : { scheme }];
  if (type !== 'apiKey' || (where !== 'header' && where !== 'query')) return [];
  const location = { [where]: name };
  // Most documents with an apiKey in Authorization mean a scheme before the key, but could not express it otherwise.
  return where === 'header' && String(name).toLowerCase() === 'authorization' ? ['bearer', location] : [location];
}

function schemesIn({ components, ...rest }: Mapping): Readonly<Record<string, Mapping>> {
  const schemes = isMapping(components) ? follow(components['securitySchemes'], { components, ...rest }) : null;
  if (!isMapping(schemes)) return {};
  const followed = Object.entries(schemes).map(
    ([name, each]) => [name, follow(each, { components, ...rest })] as const,
  );
  return Object.fromEntries(followed.filter((entry): entry is readonly [string, Mapping] => isMapping(entry[1])));
}

function schemeOf(location: CredentialLocation): Mapping {
  const withScheme = (scheme: string, word: string): Mapping => {
    return { type: 'http', scheme, description: `Your API key, sent as \`Authorization: ${word} <API_KEY>\`.` };
  };
  if (location === 'bearer') return withScheme('bearer', 'Bearer');
  if ('scheme' in location) return withScheme(location.scheme, location.scheme);
  if ('basic' in location) {
    const [part, other] = location.basic === 'username' ? ['user name', 'password'] : ['password', 'user name'];
    return { type: 'http', scheme: 'basic', description: `Your API key as ${part}, with any ${other}.` };
  }
  const [where, name] = Object.entries(location)[0]!;
  return { type: 'apiKey', in: where, name, description: 'Your API key.' };
}

function isAlike(scheme: Mapping, wanted: Mapping): boolean {
  return ['type', 'scheme', 'in', 'name'].every(
    (field) => String(scheme[field]).toLowerCase() === String(wanted[field]).toLowerCase(),
  );
}

function freeName(schemes: Mapping, own: readonly (readonly [string, unknown])[]): string {
  const taken = new Set([...Object.keys(schemes), ...own.map(([name]) => name)]);
  let name = 'apiKey';
  for (let n = 2; taken.has(name); n += 1) name = `apiKey${n}`;
  return name;
}
