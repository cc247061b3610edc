import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, type Teardown } from '../servers/program.js';

/** One operation of an API that isn't ours, and by hand, what its requests look like. */
interface Offer {
  readonly method: string;
  readonly path: string;
  /** Schemas of the parameters in its path, by name; those left out are text. */
  readonly schemas?: Readonly<Record<string, object>>;
  readonly looks: RegExp;
  readonly body?: boolean;
}

/** No slash, and nothing that a decoder makes one of. */
const TEXT = '(?:(?!%2F|%5C)[^/])+';

export const OFFERS: readonly Offer[] = [
  { method: 'GET', path: '/users', looks: /^\/users$/ },
  {
    method: 'GET',
    path: '/users/{id}',
    schemas: { id: { type: 'integer', minimum: 1 } },
    looks: /^\/users\/[1-9]\d{0,18}$/,
  },
  {
    method: 'PUT',
    path: '/users/{id}/avatar',
    schemas: { id: { type: 'integer' } },
    looks: /^\/users\/(?:0|-?[1-9]\d{0,18})\/avatar$/,
    body: true,
  },
  // A pattern without a type let everything through.
  {
    method: 'POST',
    path: '/users/{login}:verify',
    schemas: { login: { pattern: '^[a-z]+$' } },
    looks: /^\/users\/[a-z]+:verify$/,
    body: true,
  },
  { method: 'GET', path: '/versions/{name}', schemas: { name: { pattern: '^v[0-9]+$' } }, looks: /^\/versions\/v\d+$/ },
  {
    method: 'DELETE',
    path: '/versions/{name}',
    schemas: { name: { anyOf: [{ pattern: '^v0' }, { type: 'integer' }] } },
    looks: /^\/versions\/(?:v0.*|0|-?[1-9]\d{0,18})$/,
  },
  { method: 'GET', path: '/compare/{base}...{head}', looks: new RegExp(`^/compare/${TEXT}\\.\\.\\.${TEXT}$`) },
  {
    method: 'GET',
    path: '/colours/{c}',
    schemas: { c: { type: 'string', enum: ['red', 'gr\u00fcn'] } },
    looks: /^\/colours\/(?:red|gr%C3%BCn)$/,
  },
  { method: 'POST', path: '/reports', looks: /^\/reports$/, body: true },
];

/** The document has more than that; the overlay takes it out. */
const HIDDEN = ['/admin', '/admin/{x}', '/users/{id}/secret'];

/** Whether an upstream may meet this: path without query, as the gateway forwards it. HEAD is where GET is. */
export function isOffered(method: string, path: string): boolean {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return OFFERS.some((offer) => offer.method === wanted && offer.looks.test(path));
}

/** Settings of a gateway in front of that API. */
export function foreignSettings(t: Teardown): { readonly contract: string; readonly overlays: readonly string[] } {
  const folder = temporaryFolder(t);
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, schemas = {}, body = false } of OFFERS) {
    const parameters = Object.entries(schemas).map(([name, schema]) => ({ name, in: 'path', required: true, schema }));
    const operation = { parameters, ...(body ? { requestBody: { content: {} } } : {}) };
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  for (const path of HIDDEN) paths[path] = { get: {}, post: { requestBody: { content: {} } } };
  const [contract, overlay] = [join(folder, 'api.json'), join(folder, 'policy.yaml')];
  writeFileSync(contract, JSON.stringify({ openapi: '3.0.3', paths }));
  const actions = HIDDEN.map((path) => `  - { target: "$.paths['${path}']", remove: true }`);
  writeFileSync(overlay, ['overlay: 1.0.0', 'actions:', ...actions].join('\n'));
  return { contract, overlays: [overlay] };
}
