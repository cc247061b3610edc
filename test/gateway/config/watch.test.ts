import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { watchFiles } from '../../../src/gateway/config/watch.js';
import { temporaryFolder } from '../../servers/program.js';
import { until } from '../../servers/until.js';

t.test('a change that comes while the last one is read is not taken for read', async (t) => {
  const file = join(temporaryFolder(t), 'tls.key');
  writeFileSync(file, 'one');
  let calls = 0;
  const watching = watchFiles(
    () => [file],
    () => {
      calls += 1;
      if (calls === 1) writeFileSync(file, 'three');
    },
  );
  t.teardown(() => watching.close());
  writeFileSync(file, 'two');
  await until('it is notified of the second one as well', () => calls >= 2);
  t.equal(calls, 2);
});

t.test('a file that is named only now is watched from now on', async (t) => {
  const [first, second] = [join(temporaryFolder(t), 'tls.crt'), join(temporaryFolder(t), 'tls.crt')];
  for (const file of [first, second]) writeFileSync(file, 'one');
  let named = [first];
  let calls = 0;
  const watching = watchFiles(
    () => named,
    () => {
      calls += 1;
      named = [first, second];
    },
  );
  t.teardown(() => watching.close());
  writeFileSync(first, 'two');
  await until('the first change is told', () => calls >= 1);
  const before = calls;
  writeFileSync(second, 'two');
  await until('and one of the other file', () => calls > before);
  t.pass('told');
});

t.test('what is gone, folder and all, is a change and no fault; the same content is none', async (t) => {
  const folder = join(temporaryFolder(t), 'gone');
  const file = join(temporaryFolder(t), 'gateway.yaml');
  writeFileSync(file, 'one');
  let calls = 0;
  const watching = watchFiles(
    () => [file, join(folder, 'tls.crt')],
    () => (calls += 1),
  );
  t.teardown(() => watching.close());
  writeFileSync(file, 'two');
  await until('a file beside one that is not there is watched', () => calls === 1);
  rmSync(file);
  await until('its end is told', () => calls === 2);
  writeFileSync(file, 'two');
  await until('and that it is back', () => calls === 3);
  writeFileSync(file, 'two');
  writeFileSync(file, 'three');
  await until('a change after one that changed nothing', () => calls >= 4);
  t.equal(calls, 4);
});
