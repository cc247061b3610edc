import t from 'tap';
import { CATALOGUE } from '../../../src/gateway/refusals/catalogue.js';
import {
  challengesOf,
  curlArguments,
  worded,
  type CredentialLocations,
} from '../../../src/gateway/refusals/credential-location.js';

const EVERYWHERE: CredentialLocations = [
  'bearer',
  { header: 'X-API-Key' },
  { query: 'api_key' },
  { basic: 'username' },
];

t.test('the challenge names every place', (t) => {
  t.equal(challengesOf(['bearer'], 'pets', ', error="invalid_token"'), 'Bearer realm="pets", error="invalid_token"');
  t.equal(
    challengesOf(EVERYWHERE, 'pets', ''),
    'Basic realm="pets", Bearer realm="pets", ApiKey realm="pets", header="X-API-Key", ' +
      'ApiKey realm="pets", query="api_key"',
    'Basic first: hg and skopeo know no other',
  );
  t.end();
});

t.test('a scheme of its own is named as it is', (t) => {
  const token: CredentialLocations = [{ scheme: 'token' }];
  t.equal(challengesOf(token, 'pets', ', error="invalid_token"'), 'token realm="pets"');
  t.match(worded(CATALOGUE.missing_api_key.message, token), /as "Authorization: token <API_KEY>"\.$/);
  t.equal(curlArguments(token, '/a', 'k'), '-H "Authorization: token k" "/a"');
  t.end();
});

t.test('messages say how to send a key here', (t) => {
  const { message } = CATALOGUE.missing_api_key;
  t.equal(worded(message, ['bearer']), message);
  t.equal(
    worded(message, EVERYWHERE),
    'No API key was sent. Send it as "Authorization: Bearer <API_KEY>", or as "X-API-Key: <API_KEY>", or as ' +
      '"api_key=<API_KEY>" in the query, or as user name of Basic.',
  );
  t.match(worded(CATALOGUE.invalid_api_key.message, [{ basic: 'password' }]), /as password of Basic, or ask/);
  t.end();
});

t.test('curl sends it to the first place', (t) => {
  for (const [location, expected] of [
    ['bearer', '-H "Authorization: Bearer k" "/a"'],
    [{ header: 'X-API-Key' }, '-H "X-API-Key: k" "/a"'],
    [{ query: 'api_key' }, '"/a?api_key=k"'],
    [{ basic: 'username' }, '-u "k:" "/a"'],
    [{ basic: 'password' }, '-u ":k" "/a"'],
  ] as const)
    t.equal(curlArguments([location], '/a', 'k'), expected);
  const inSingleQuotes = (text: string): string => `'${text}'`;
  t.equal(curlArguments([{ query: 'k' }], '/a?$b=1', 'x', inSingleQuotes), "'/a?$b=1&k=x'");
  t.end();
});
