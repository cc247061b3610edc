import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig, StartFailure } from '../../src/pets/config.js';
import { temporaryFolder } from './service.js';

t.test('with nothing set the defaults hold, and a token is made for the owner only', (t) => {
  const folder = temporaryFolder(t);
  const config = readConfig({ PETGATE_DATA: folder, PETS_PORT: '' });
  t.match(config, { host: '127.0.0.1', port: 8081, dataFolder: folder, databaseUrl: null, logLevel: 'info' });
  t.equal(readFileSync(join(folder, 'internal-token'), 'utf8').trim(), config.internalToken);
  t.equal(statSync(join(folder, 'internal-token')).mode & 0o777, 0o600);
  t.equal(readConfig({ PETGATE_DATA: folder }).internalToken, config.internalToken, 'and found again');
  t.end();
});

t.test('all mistakes are told at once, without any secret', (t) => {
  const environment = {
    PETS_PORT: '80a',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://u:hunter2@h/d',
    PETGATE_INTERNAL_TOKEN: 'two words',
  };
  let message = '';
  try {
    readConfig(environment);
  } catch (error) {
    message = error instanceof StartFailure ? error.message : '';
  }
  for (const name of Object.keys(environment)) t.match(message, name);
  t.notMatch(message, /hunter2|two words|\n/);
  t.end();
});

t.test('ports there are not', (t) => {
  for (const PETS_PORT of ['65536', '-1', '1e3', '80 81', '8081x'])
    t.throws(
      () => readConfig({ PETS_PORT, PETGATE_INTERNAL_TOKEN: 'internal-token-of-the-tests' }),
      /PETS_PORT/,
      PETS_PORT,
    );
  t.equal(readConfig({ PETS_PORT: '65535', PETGATE_INTERNAL_TOKEN: 'internal-token-of-the-tests' }).port, 65_535);
  t.end();
});

t.test('a misspelt variable is a mistake, and a Service called pets beside us no port', (t) => {
  const token = { PETGATE_INTERNAL_TOKEN: 'internal-token-of-the-tests' };
  t.throws(() => readConfig({ ...token, DATABASE_ULR: 'postgres://h/d' }), /DATABASE_ULR: .*"DATABASE_URL"/);
  t.equal(readConfig({ ...token, PETS_PORT: 'tcp://10.0.0.2:8081' }).port, 8081);
  t.end();
});

t.test('an empty token file, or a folder that cannot be, is told', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'internal-token'), '\n');
  t.throws(() => readConfig({ PETGATE_DATA: folder }), /internal-token in .* is empty/);
  t.throws(() => readConfig({ PETGATE_DATA: join(folder, 'internal-token') }), /PETGATE_DATA/);
  t.end();
});
