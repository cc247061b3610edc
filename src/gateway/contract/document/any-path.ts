import type { Mapping } from './references.js';

/** The template that stands for any path. */
export const ANY_PATH = '/{path}';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The document of a gateway without a contract: any path goes to the upstream, and an operation is its method. */
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
    return [method, { operationId: name, summary: `${name} of any path`, ...bodyOf(method), responses: RESPONSES }];
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'API',
      version: '1',
      summary: 'Every path is forwarded to the API behind this gateway.',
      description: 'This gateway has no contract of the API. `HEAD` is forwarded and counted as `GET`.',
    },
    paths: { [ANY_PATH]: { parameters: [path], ...(Object.fromEntries(operations) as Mapping) } },
  };
}

const RESPONSES = { default: { description: 'What the API answers, or an error of the gateway' } };

function bodyOf(method: (typeof METHODS)[number]): Mapping {
  return method === 'get' ? { 'x-petgate': { websocket: true } } : { requestBody: { content: { '*/*': {} } } };
}
