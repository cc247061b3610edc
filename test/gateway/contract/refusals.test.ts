import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { CATALOGUE } from '../../../src/gateway/refusals/catalogue.js';
import { withErrorTable, withRefusals } from '../../../src/gateway/contract/refusals.js';
import { packageRoot } from '../../../src/shared/package-root.js';

const CONTRACT = readFileSync(join(packageRoot, 'config/openapi.yaml'), 'utf8');
const ERRORS = readFileSync(join(packageRoot, 'docs/reference/errors.md'), 'utf8');

interface Contract {
  readonly components: {
    readonly schemas: {
      readonly Error: { readonly properties: { readonly code: { readonly enum: readonly string[] } } };
    };
    readonly responses: Readonly<Record<string, { readonly content?: { readonly 'application/json': object } }>>;
  };
}

t.test('the contract and the page of errors are what the catalogue says', (t) => {
  t.ok(CONTRACT === withRefusals(CONTRACT), 'otherwise run node dist/src/gateway/contract/write.js');
  t.ok(ERRORS === withErrorTable(ERRORS), 'otherwise run node dist/src/gateway/contract/write.js');
  t.end();
});

t.test('a refusal that the contract lacks is listed and shown where its status is', (t) => {
  const without = CONTRACT.replace(/^ +- request_timeout\n/m, '').replace('code: request_timeout', 'code: other');
  const { components } = parse(withRefusals(without)) as Contract;
  const codes = components.schemas.Error.properties.code.enum;
  t.ok(codes.indexOf('request_timeout') < codes.indexOf('invalid_body'), 'before the codes of the upstream');
  const { message, status } = CATALOGUE.request_timeout;
  t.match(components.responses['RequestTimeout']?.content?.['application/json'], {
    examples: { other: {}, request_timeout: { value: { code: 'request_timeout', message, status } } },
  });
  t.end();
});

t.test('a message that changed is shown as it is now, wherever it is shown', (t) => {
  const { message } = CATALOGUE.not_found;
  const stale = CONTRACT.replaceAll(message, 'Nothing here.');
  t.not(stale, CONTRACT);
  t.equal(withRefusals(stale), CONTRACT);
  t.equal(withErrorTable(ERRORS.replace(/\| 404 \|.*\n/, '| 404 | gone | nothing |\n')), ERRORS);
  t.end();
});
