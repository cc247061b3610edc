import type { CredentialLocation } from '../refusals/credential-location.js';
import { curlArguments, quoted } from '../refusals/credential-location.js';
import type { ExampleRequest } from './example.js';

/** What one language sends. */
interface Sending {
  /** Header fields, with their values as expressions of the language. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The address as an expression. */
  readonly url: string;
  /** The body as an expression; undefined if there is none. */
  readonly body: string | undefined;
}

/**
 * A request in several languages, by their names. The key comes from the environment, so that it is in no file.
 * @param location null: no key is needed
 */
export function samplesOf(
  base: string,
  { method, target, body }: ExampleRequest,
  location: CredentialLocation | null = 'bearer',
): ReadonlyMap<string, string> {
  const url = base + target;
  const sending = (language: Language): Sending => {
    const sent = location === null ? { fields: [], url: JSON.stringify(url) } : sentBy(location, url, language);
    const type = body === undefined ? [] : [['Content-Type', JSON.stringify(body.type)] as const];
    return { ...sent, fields: [...sent.fields, ...type], body: body && JSON.stringify(body.text) };
  };
  return new Map([
    ['curl', curl(method, url, body, location)],
    ['JavaScript', javascript(method, sending(JAVASCRIPT))],
    ['Python', python(method, sending(PYTHON))],
    ['Go', go(method, sending(GO))],
  ]);
}

function curl(method: string, url: string, body: ExampleRequest['body'], key: CredentialLocation | null): string {
  const options = method === 'GET' ? '' : `-X ${method} `;
  const address = key === null ? `"${url}"` : curlArguments([key], url, '$API_KEY');
  const sent = body === undefined ? '' : ` -H "Content-Type: ${body.type}" --data-raw ${quoted(body.text)}`;
  return `curl -i ${options}${address}${sent}`;
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

function sentBy(location: CredentialLocation, url: string, language: Language): Omit<Sending, 'body'> {
  const { key, join, encode } = language;
  const plain = JSON.stringify(url);
  const authorization = (value: string) => ({ fields: [['Authorization', value] as const], url: plain });
  if (location === 'bearer') return authorization(join('Bearer ', key, ''));
  if ('scheme' in location) return authorization(join(`${location.scheme} `, key, ''));
  if ('header' in location) return { fields: [[location.header, key]], url: plain };
  if ('query' in location)
    return { fields: [], url: join(`${url}${url.includes('?') ? '&' : '?'}${location.query}=`, key, '') };
  const login = location.basic === 'username' ? join('', key, ':') : join(':', key, '');
  return authorization(join('Basic ', encode(login), ''));
}

function javascript(method: string, { fields, url, body }: Sending): string {
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(fields.length === 0 ? [] : [`  headers: { ${pairs(fields)} },`]),
    ...(body === undefined ? [] : [`  body: ${body},`]),
  ];
  const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch(${url}${given});\nconsole.log(response.status, await response.text());`;
}

function python(method: string, { fields, url, body }: Sending): string {
  const headers = fields.length === 0 ? '' : `, headers={${pairs(fields)}}`;
  const data = body === undefined ? '' : `, data=${body}.encode()`;
  return [
    'import os',
    ...(headers.includes('b64encode') ? ['from base64 import b64encode'] : []),
    'from urllib.request import Request, urlopen',
    '',
    `request = Request(${url}, method=${JSON.stringify(method)}${headers}${data})`,
    'with urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
}

function go(method: string, { fields, url, body }: Sending): string {
  const values = [url, ...fields.map(([, value]) => value)].join('\n');
  const imports = [
    ...(values.includes('base64.') ? ['encoding/base64'] : []),
    ...['fmt', 'io', 'net/http'],
    ...(values.includes(GO.key) ? ['os'] : []),
    ...(body === undefined ? [] : ['strings']),
  ];
  const reader = body === undefined ? 'nil' : `strings.NewReader(${body})`;
  return [
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    `\trequest, _ := http.NewRequest(${JSON.stringify(method)}, ${url}, ${reader})`,
    ...fields.map(([name, value]) => `\trequest.Header.Set(${JSON.stringify(name)}, ${value})`),
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

function pairs(fields: Sending['fields']): string {
  return fields.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ');
}
