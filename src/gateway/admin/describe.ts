import { z } from 'zod';
import { rolesFor } from '../actions/access/roles.js';
import { statusOf, type Action } from '../actions/action.js';
import { ErrorBody, NAMED } from '../actions/schemas.js';

type Json = Readonly<Record<string, unknown>>;

const JSON_TYPE = 'application/json';
const ERROR = { description: 'An error that says what to do', content: contentOf(ErrorBody) };

/** Returns the OpenAPI 3.1 description of the admin API. */
export function describe(routes: readonly Action[]): Json {
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
      schemas: schemas(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf(one: Action): Json {
  const { method, path, summary, role, query = {}, takes, streams, gives } = one;
  const status = statusOf(one);
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: STRING })),
    ...Object.entries(query).map(([name, schema]) => parameterOf(name, schema)),
    ...(method === 'GET' ? [] : [ACTOR]),
  ];
  const content =
    takes !== undefined ? contentOf(takes) : streams === true ? { 'application/x-ndjson': {} } : undefined;
  return {
    operationId: nameOf(method, path),
    summary,
    ...(role === 'open' ? {} : { description: `For tokens with the role ${rolesFor(role).join(', ')}.` }),
    ...(role === 'open' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content === undefined ? {} : { requestBody: { content } }),
    responses: {
      [status]: { description: summary, ...(status === 204 ? {} : { content: contentOf(gives ?? []) }) },
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

function parameterOf(name: string, given: z.ZodType): Json {
  const { description, ...schema } = jsonSchema(given);
  return { name, in: 'query', description, schema };
}

function contentOf(body: z.ZodType | readonly string[]): Json {
  if (!(body instanceof z.ZodType)) return Object.fromEntries(body.map((type) => [type, {}]));
  return { [JSON_TYPE]: { schema: { $ref: refTo(NAMED.get(body)!.id) } } };
}

function schemas(): Json {
  const made = z.toJSONSchema(NAMED, { io: 'input', uri: refTo }).schemas;
  return Object.fromEntries(Object.entries(made).map(([name, schema]) => [name, plain(schema)]));
}

function jsonSchema(schema: z.ZodType): Json {
  return plain(z.toJSONSchema(schema, { io: 'input' }));
}

/** Drops `$id` and `$schema`, which belong to the whole document. */
function plain(schema: object): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !key.startsWith('$')));
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}
