import type { CredentialLocation } from '../refusals/credential-location.js';
import { curlArguments } from '../refusals/credential-location.js';
import type { ExampleRequest } from './example.js';

/** How one language reads the key and sends it. */
interface Sending {
  /** Header field, and its value as an expression of the language; null if the key is in the query. */
  readonly field: readonly [name: string, value: string] | null;
  /** The address as an expression. */
  readonly url: string;
}

/** A request in several languages, by their names. The key comes from the environment, so that it is in no file. */
export function samplesOf(
  base: string,
  { method, target }: ExampleRequest,
  location: CredentialLocation = 'bearer',
): ReadonlyMap<string, string> {
  const url = base + target;
  const options = method === 'GET' ? '' : `-X ${method} `;
  return new Map([
    ['curl', `curl -i ${options}${curlArguments([location], url, '$API_KEY')}`],
    ['JavaScript', javascript(method, sentBy(location, url, JAVASCRIPT))],
    ['Python', python(method, sentBy(location, url, PYTHON))],
    ['Go', go(method, sentBy(location, url, GO))],
  ]);
}

/** Expressions of a language. */
interface Language {
  readonly key: string;
  readonly join: (before: string, key: string, after: string) => string;
  /** Base64 of an expression. */
  readonly encode: (text: string) => string;
}

const JAVASCRIPT: Language = {
  key: 'process.env.API_KEY',
  join: (before, key, after) => `\`${before}\${${key}}${after}\``,
  encode: (text) => `btoa(${text})`,
};
const PYTHON: Language = {
  key: 'os.environ["API_KEY"]',
  join: (before, key, after) => added(before, key, after),
  encode: (text) => `b64encode((${text}).encode()).decode()`,
};
const GO: Language = {
  key: 'os.Getenv("API_KEY")',
  join: (before, key, after) => added(before, key, after),
  encode: (text) => `base64.StdEncoding.EncodeToString([]byte(${text}))`,
};

function added(before: string, key: string, after: string): string {
  const texts = [before, after].map((text) => (text === '' ? null : JSON.stringify(text)));
  return [texts[0], key, texts[1]].filter((part) => part !== null).join(' + ');
}

function sentBy(location: CredentialLocation, url: string, { key, join, encode }: Language): Sending {
  const plain = JSON.stringify(url);
  if (location === 'bearer') return { field: ['Authorization', join('Bearer ', key, '')], url: plain };
  if ('scheme' in location) return { field: ['Authorization', join(`${location.scheme} `, key, '')], url: plain };
  if ('header' in location) return { field: [location.header, key], url: plain };
  if ('query' in location)
    return { field: null, url: join(`${url}${url.includes('?') ? '&' : '?'}${location.query}=`, key, '') };
  const login = location.basic === 'username' ? join('', key, ':') : join(':', key, '');
  return { field: ['Authorization', join('Basic ', encode(login), '')], url: plain };
}

function javascript(method: string, { field, url }: Sending): string {
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(field === null ? [] : [`  headers: { ${JSON.stringify(field[0])}: ${field[1]} },`]),
  ];
  const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch(${url}${given});\nconsole.log(response.status, await response.text());`;
}

function python(method: string, { field, url }: Sending): string {
  const headers = field === null ? '' : `, headers={${JSON.stringify(field[0])}: ${field[1]}}`;
  const isEncoded = field?.[1].includes('b64encode') === true;
  return [
    'import os',
    ...(isEncoded ? ['from base64 import b64encode'] : []),
    'from urllib.request import Request, urlopen',
    '',
    `request = Request(${url}, method=${JSON.stringify(method)}${headers})`,
    'with urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
}

function go(method: string, { field, url }: Sending): string {
  const isEncoded = field?.[1].includes('base64.') === true;
  const imports = [...(isEncoded ? ['encoding/base64'] : []), 'fmt', 'io', 'net/http', 'os'];
  return [
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    `\trequest, _ := http.NewRequest(${JSON.stringify(method)}, ${url}, nil)`,
    ...(field === null ? [] : [`\trequest.Header.Set(${JSON.stringify(field[0])}, ${field[1]})`]),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\tbody, _ := io.ReadAll(response.Body)',
    '\tfmt.Println(response.StatusCode, string(body))',
    '}',
  ].join('\n');
}
