import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { eventFor, type UsageEvent } from '../../../../src/cli/usage/push/event.js';
import { appendEvents, readEvents } from '../../../../src/cli/usage/push/event-file.js';

const event = (id: string): UsageEvent =>
  eventFor('2026-11-21', { id, source: 'here', type: 'petgate.usage.v1', subject: 'ü', data: { units: 1 } });

function fileFor(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-events-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return join(folder, 'events');
}

async function idsIn(file: string, bytes: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { event } of readEvents(file, bytes, (line) => JSON.parse(line) as UsageEvent)) {
    found.push(event.id);
  }
  return found;
}

t.test('events are appended, for the owner of the file only', async (t) => {
  const file = fileFor(t);
  const first = await appendEvents(file, 0, [event('a'), event('b')]);
  t.equal(first, statSync(file).size);
  t.equal(await appendEvents(file, first, []), first, 'no event: nothing');
  const second = await appendEvents(file, first, [event('c')]);
  t.same(await idsIn(file, second), ['a', 'b', 'c']);
  t.same(await idsIn(file, first), ['a', 'b']);
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test('what a killed push wrote after the known length is gone', async (t) => {
  const file = fileFor(t);
  const bytes = await appendEvents(file, 0, [event('a')]);
  appendFileSync(file, '{"specversion":"1.0","id":"b');
  const more = await appendEvents(file, bytes, [event('c')]);
  t.equal(readFileSync(file).length, more);
  t.same(await idsIn(file, more), ['a', 'c']);
  t.equal(await appendEvents(file, 0, []), 0, 'nothing was sent of it: it starts again');
  t.equal(statSync(file).size, 0);
});

t.test('a missing or cut file is an error', async (t) => {
  const file = fileFor(t);
  const bytes = await appendEvents(file, 0, [event('a')]);
  truncateSync(file, bytes - 1);
  await t.rejects(idsIn(file, bytes), /missing or too short/);
  rmSync(file);
  await t.rejects(idsIn(file, bytes), /missing or too short/);
});
