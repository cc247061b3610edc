import { rolesFor } from '../access/roles.js';
import type { Route } from '../route.js';
import { PARAMETERS } from './parameters.js';
import { SCHEMAS } from './schemas.js';

type Json = Readonly<Record<string, unknown>>;

const JSON_TYPE = 'application/json';
const ERROR = { description: 'An error that says what to do', content: contentOf('Error') };

/** The OpenAPI 3.1 description of the admin API, made from its table of routes. */
export function describe(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Petgate admin API',
      version: '1',
      license: { name: 'Unlicensed', identifier: 'LicenseRef-Unlicensed' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, basic: { type: 'http', scheme: 'basic' } },
    },
  };
}

function operationOf({ method, path, summary, role, browser, query = [], takes, streams, gives }: Route): Json {
  const [status, body = []] = gives;
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: STRING })),
    ...query.map((name) => ({ name, in: 'query', ...PARAMETERS[name] })),
    ...(method === 'GET' ? [] : [ACTOR]),
  ];
  const content =
    takes !== undefined ? contentOf(takes) : streams === true ? { 'application/x-ndjson': {} } : undefined;
  return {
    operationId: nameOf(method, path),
    summary,
    ...(role === 'open' ? {} : { description: `For tokens with the role ${rolesFor(role).join(', ')}.` }),
    ...(role === 'open' ? { security: [] } : browser === true ? { security: [{ bearer: [] }, { basic: [] }] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content === undefined ? {} : { requestBody: { content } }),
    responses: {
      [status]: { description: summary, ...(status === 204 ? {} : { content: contentOf(body) }) },
      '4XX': ERROR,
      '5XX': ERROR,
    },
  };
}

/** `GET /admin/v1/keys/{id}/history` → `getKeysIdHistory` */
function nameOf(method: string, path: string): string {
  const words = path.replace('/admin/v1', '').split(/\W+/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

const STRING = { type: 'string' };

const ACTOR = {
  name: 'X-Petgate-Actor',
  in: 'header',
  description: 'Who acts, for the history',
  schema: { type: 'string', maxLength: 64 },
};

function contentOf(body: keyof typeof SCHEMAS | readonly string[]): Json {
  if (typeof body !== 'string') return Object.fromEntries(body.map((type) => [type, {}]));
  return { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${body}` } } };
}
