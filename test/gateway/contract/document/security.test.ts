import t from 'tap';
import { locationsIn, schemesOf } from '../../../../src/gateway/contract/document/security.js';

const withSchemes = (securitySchemes: object): Record<string, unknown> => ({ components: { securitySchemes } });

t.test('where clients send their key is read from the security schemes', (t) => {
  for (const [scheme, expected] of [
    [{ type: 'http', scheme: 'Bearer' }, ['bearer']],
    [{ type: 'http', scheme: 'basic' }, [{ basic: 'username' }]],
    [{ type: 'http', scheme: 'digest' }, []],
    [{ type: 'oauth2', flows: {} }, ['bearer']],
    [{ type: 'openIdConnect', openIdConnectUrl: 'https://a.example' }, ['bearer']],
    [{ type: 'apiKey', in: 'header', name: 'X-API-Key' }, [{ header: 'X-API-Key' }]],
    [{ type: 'apiKey', in: 'header', name: 'Authorization' }, ['bearer', { header: 'Authorization' }]],
    [{ type: 'apiKey', in: 'query', name: 'key' }, [{ query: 'key' }]],
    [{ type: 'apiKey', in: 'cookie', name: 'session' }, []],
    [{ type: 'apiKey', in: 'header', name: 'X-Request-Id' }, []],
    [{ type: 'apiKey', in: 'query', name: 7 }, []],
    [{ type: 'mutualTLS' }, []],
    ['nothing', []],
    [{ $ref: '#/components/securitySchemes/b' }, ['bearer']],
  ] as const)
    t.strictSame(
      locationsIn(
        withSchemes({
          a: scheme,
          ...(typeof scheme === 'object' && '$ref' in scheme ? { b: { type: 'oauth2' } } : {}),
        }),
      ),
      expected,
      JSON.stringify(scheme),
    );
  const twice = {
    a: { type: 'oauth2' },
    b: { type: 'http', scheme: 'bearer' },
    c: { type: 'apiKey', in: 'query', name: 'k' },
  };
  t.strictSame(locationsIn(withSchemes(twice)), ['bearer', { query: 'k' }], 'each once, in its order');
  t.strictSame(locationsIn({}), []);
  t.end();
});

t.test('clients read of every place, in the words of the document where it has some', (t) => {
  const eve = { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'Ask Eve for one.' };
  const document = withSchemes({ apiKey: { type: 'oauth2' }, eve });
  const schemes = schemesOf(document, ['bearer', { header: 'X-API-Key' }, { query: 'k' }, { basic: 'password' }]);
  t.match(schemes, {
    apiKey2: { type: 'http', scheme: 'bearer' },
    eve,
    apiKey3: { type: 'apiKey', in: 'query', name: 'k' },
    apiKey4: { type: 'http', scheme: 'basic', description: 'Your API key as password, with any user name.' },
  });
  t.strictSame(Object.keys(schemes), ['apiKey2', 'eve', 'apiKey3', 'apiKey4']);
  t.end();
});
