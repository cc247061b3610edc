import type { Mapping } from './references.js';

/** The template that matches any path. */
export const ANY_PATH = '/{path}';

/** In `additionalOperations`: all methods without an operation of their own. */
export const ANY_METHOD = '*';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const ANY_BODY = { content: { '*/*': {} } };

/** Returns the document of a gateway without a contract: it forwards any path; operations are its methods, or ANY. */
export function anyPathDocument(): Mapping {
  const path = {
    name: 'path',
    in: 'path',
    required: true,
    description: 'Any path: several segments, or none, are forwarded as well.',
    schema: { type: 'string' },
  };
  const operations = METHODS.map((method) => {
    const name = method.toUpperCase();
    const policy = method === 'get' ? { 'x-petgate': { websocket: true } } : {};
    return [method, { ...operationCalled(name, `${name} of any path`), ...policy }];
  });
  return {
    openapi: '3.2.0',
    info: {
      title: 'API',
      version: '1',
      summary: 'Every path is forwarded to the API behind this gateway.',
      description: 'This gateway has no contract of the API. `HEAD` is forwarded and counted as `GET`.',
    },
    paths: {
      [ANY_PATH]: {
        parameters: [path],
        ...(Object.fromEntries(operations) as Mapping),
        additionalOperations: { [ANY_METHOD]: operationCalled('ANY', 'All other methods, of any path') },
      },
    },
  };
}

const RESPONSES = { default: { description: "The API's response, or an error of the gateway" } };

function operationCalled(operationId: string, summary: string): Mapping {
  return { operationId, summary, requestBody: ANY_BODY, responses: RESPONSES };
}
