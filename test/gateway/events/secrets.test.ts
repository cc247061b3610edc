import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readEventSecrets } from '../../../src/gateway/events/secrets.js';

const [FIRST, SECOND] = [Buffer.alloc(24, 'a'), Buffer.alloc(64, 'b')];
const written = (key: Buffer): string => `whsec_${key.toString('base64')}`;

t.test('one secret, or two during a rotation, of the variable, else of the file', (t) => {
  const folder = t.testdir({});
  const read = (text: string): readonly Buffer[] => readEventSecrets({ PETGATE_EVENTS_SECRET: text }, folder);
  t.same(read(written(FIRST)), [FIRST]);
  t.same(read(` ${written(FIRST)},\n${written(SECOND)} `), [FIRST, SECOND]);
  t.same(read(written(FIRST).replace(/=+$/, '')), [FIRST], 'padding may be left out');
  writeFileSync(join(folder, 'events-secret'), `${written(SECOND)}\n${written(FIRST)}\n`);
  t.same(read(''), [SECOND, FIRST]);
  t.same(read(written(FIRST)), [FIRST], 'the variable wins');
  t.end();
});

t.test('what is no secret is refused, unrepeated, and none is made', (t) => {
  const folder = t.testdir({});
  const message = /set PETGATE_EVENTS_SECRET, or write/;
  t.throws(() => readEventSecrets({}, folder), { name: 'InvalidSecret', message });
  const three = [FIRST, FIRST, FIRST].map(written).join(' ');
  for (const text of [
    'hunter2hunter2hunter2hunter2hunter2',
    'whsec_',
    `whsec_${Buffer.alloc(23).toString('base64')}`,
    `whsec_${Buffer.alloc(65).toString('base64')}`,
    `whsec_${FIRST.toString('base64')}!`,
    `whsec_${FIRST.toString('base64').replace('Y', '*')}`,
    `WHSEC_${FIRST.toString('base64')}`,
    three,
  ]) {
    for (const [environment, where] of [
      [{ PETGATE_EVENTS_SECRET: text }, 'PETGATE_EVENTS_SECRET'],
      [{}, 'the file events-secret'],
    ] as const) {
      writeFileSync(join(folder, 'events-secret'), text);
      try {
        readEventSecrets(environment, folder);
        t.fail(`taken: ${text}`);
      } catch (error) {
        const { name, message } = error as Error;
        t.equal(name, 'InvalidSecret', message);
        t.ok(message.startsWith(where) && message.includes('openssl'), message);
        t.notMatch(message, /hunter2|YWFh|AAAA/);
      }
    }
  }
  t.end();
});
