import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { handoverOf } from '../../../src/gateway/process/handover.js';

const KEY = 'ptg_test_key';

t.test('a new key comes with a request for a shell, at the address of the listener', (t) => {
  const settings = loadSettings({ HOST: '0.0.0.0', PORT: '8123' });
  const { curl, docs, account } = handoverOf({ settings, contract: loadContract(settings.contract, settings) });
  t.match(curl(KEY), /^curl -i -H 'Authorization: Bearer ptg_test_key' http:\/\/localhost:8123\/v1\//);
  t.equal(docs, 'http://localhost:8123/docs');
  t.equal(account, 'http://localhost:8123/account');
  const six = handoverOf({
    settings: loadSettings({ HOST: '::1' }),
    contract: loadContract(settings.contract, settings),
  });
  t.match(six.curl(KEY), 'http://[::1]:');
  t.end();
});

t.test('what a contract says stays one word for the shell; what is not served is not named', (t) => {
  const path = join(t.testdir({}), 'openapi.json');
  const parameters = [{ name: 'q', in: 'query', required: true, example: `a'$(touch hacked)` }];
  writeFileSync(path, JSON.stringify({ openapi: '3.1.0', paths: { '/search': { get: { parameters } } } }));
  const settings = loadSettings({});
  const contract = loadContract(path, { own_paths: null });
  const { curl, docs, account } = handoverOf({ settings, contract });
  const words = execFileSync('bash', ['-c', curl(KEY).replace('curl', `printf '%s\\n'`)], { encoding: 'utf8' });
  t.match(words.trim().split('\n').at(-1), /\/search\?q=a'%24\(touch%20hacked\)$/);
  t.strictSame([docs, account], [null, null]);
  t.end();
});
