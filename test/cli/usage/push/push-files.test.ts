import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { UsageEvent } from '../../../../src/cli/usage/push/event.js';
import { PushFiles } from '../../../../src/cli/usage/push/push-files.js';

const event = (id: string): UsageEvent => ({ id, subject: 'ü' }) as UsageEvent;

function start(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-events-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const state = join(folder, 'state');
  const files = new PushFiles(state, (line) => JSON.parse(line) as UsageEvent);
  const ids = async (from?: number): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const { event } of files.read('day', from)) found.push(event.id);
    return found;
  };
  const append = (...events: readonly string[]) => files.append('day', events.map(event));
  return { files, state, file: `${state}.day`, ids, append };
}

t.test('events are appended, for the owner of the file only', async (t) => {
  const { files, state, file, ids, append } = start(t);
  t.equal(await append('a', 'b'), true);
  const { bytes } = files.fileOf('day');
  t.equal(bytes, statSync(file).size);
  t.equal(await append(), false, 'no event: nothing');
  await append('c');
  t.same(await ids(), ['a', 'b', 'c']);
  t.same(await ids(bytes), ['c']);
  for (const one of [file, state]) t.equal(statSync(one).mode & 0o777, 0o600);
});

t.test('what a killed push wrote after the known length is gone', async (t) => {
  const { files, file, ids, append } = start(t);
  await append('a');
  appendFileSync(file, '{"specversion":"1.0","id":"b');
  await append('c');
  t.equal(readFileSync(file).length, files.fileOf('day').bytes);
  t.same(await ids(), ['a', 'c']);
  files.save({ files: {} });
  await append();
  t.equal(statSync(file).size, 0, 'nothing was sent of it: it starts again');
});

t.test('a missing or cut file is an error, even if all of it was sent', async (t) => {
  const { files, file, ids, append } = start(t);
  await append('a');
  const { bytes } = files.fileOf('day');
  truncateSync(file, bytes - 1);
  for (const from of [0, bytes]) await t.rejects(ids(from), /missing or too short/);
  rmSync(file);
  await t.rejects(ids(), /missing or too short/);
});
