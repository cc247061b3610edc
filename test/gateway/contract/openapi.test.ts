import t from 'tap';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { REFUSALS, type Refusal } from '../../../src/gateway/refusal.js';

interface Response {
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }>;
}
interface ErrorBody {
  code: string;
  message: string;
  status: number;
}
interface Document {
  paths: Record<string, Record<string, { responses?: Record<string, { $ref?: string } & Response> }>>;
  components: {
    responses: Record<string, Response>;
    headers: Record<string, unknown>;
    schemas: { Error: { properties: { code: { enum: string[] } } } };
  };
}

const document = JSON.parse(loadContract().document.toString()) as Document;
const codes = document.components.schemas.Error.properties.code.enum;
const METHODS = ['get', 'post'];

/** Every answer of every operation: where it stands, its status, and what it says. */
const answers = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) =>
    Object.entries(item[method]?.responses ?? {}).map(([status, response]) => ({
      name: `${method} ${path} ${status}`,
      status,
      response:
        response.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)!]!,
    })),
  ),
);

function errorsOf(response: Response): ErrorBody[] {
  const content = response.content?.['application/json'];
  const examples = [content?.example, ...Object.values(content?.examples ?? {}).map(({ value }) => value)];
  return examples.filter(
    (example): example is ErrorBody => typeof example === 'object' && example !== null && 'code' in example,
  );
}

t.test('every answer carries the rate headers and its name', (t) => {
  t.ok(answers.length > 80);
  for (const { name, response } of answers) {
    const missing = [
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'RateLimit',
      'RateLimit-Policy',
      'X-Request-Id',
    ].filter((header) => response.headers?.[header] === undefined);
    t.same(missing, [], name);
  }
  t.end();
});

t.test('an answer to wait for says how long, and a 401 how to authenticate', (t) => {
  for (const { name, status, response } of answers) {
    if (status === '429' || status === '503') t.ok(response.headers?.['Retry-After'], name);
    if (status === '401') t.ok(response.headers?.['WWW-Authenticate'], name);
  }
  t.end();
});

t.test('the codes of errors are a closed list of distinct names, each with one status and an example', (t) => {
  t.same([...new Set(codes)], codes);
  for (const code of codes) t.match(code, /^[a-z]+(?:_[a-z]+)*$/);
  const statuses = new Map<string, Set<number>>();
  for (const { response } of answers) {
    for (const { code, status } of errorsOf(response))
      statuses.set(code, (statuses.get(code) ?? new Set()).add(status));
  }
  t.same([...statuses.keys()].sort(), [...codes].sort());
  for (const [code, values] of statuses) t.equal(values.size, 1, code);
  t.end();
});

t.test('an example stands under its own status', (t) => {
  for (const { name, status, response } of answers) {
    if (!/^[45]\d\d$/.test(status)) continue;
    const examples = errorsOf(response);
    t.ok(examples.length > 0, name);
    for (const example of examples) t.equal(String(example.status), status, name);
  }
  t.end();
});

t.test('every operation names what it may be refused with', (t) => {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((name) => item[name] !== undefined)) {
      const { responses } = item[method]!;
      for (const status of ['400', '408', '413', '414', '417', '431', '500', '503', '505', 'default'])
        t.ok(responses?.[status], `${method} ${path} ${status}`);
    }
  }
  t.end();
});

t.test('no number in the document is beyond what every parser keeps exactly', (t) => {
  JSON.parse(loadContract().document.toString(), (_key, value: unknown) => {
    if (typeof value === 'number') t.ok(Number.isSafeInteger(value));
    return value;
  });
  t.end();
});

t.test('the examples of the gateway are the messages it sends', (t) => {
  const refusals = new Map<string, Refusal>(Object.entries(REFUSALS));
  for (const { name, response } of answers) {
    for (const example of errorsOf(response)) {
      const refusal = refusals.get(example.code);
      if (refusal !== undefined) t.same(example, JSON.parse(refusal.body), `${name} ${example.code}`);
    }
  }
  t.end();
});
