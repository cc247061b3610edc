import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openEmbeddedStore } from '../../../src/pets/store/embedded.js';

const OPENER = fileURLToPath(new URL('opener.js', import.meta.url));
/** Commits in memory are so quick that openings meet them. */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const PROCESSES = 3;
const TIMES = 300;

t.setTimeout(600_000);

t.test('what one process acknowledged stays, while others open and close the store', async (t) => {
  const folder = mkdtempSync(join(FOLDER, 'petgate-pets-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const store = openEmbeddedStore(folder);
  t.teardown(() => store.close());
  const openers = Array.from({ length: PROCESSES }, () => fork(OPENER, [folder, String(TIMES)]));
  for (const opener of openers) t.teardown(() => opener.kill('SIGKILL'));
  let running = PROCESSES;
  const ended = openers.map((opener) => once(opener, 'exit').finally(() => (running -= 1)));
  let [acknowledged, lastId, lost] = [0, 0n, 0];
  while (running > 0) {
    const { id } = await store.add({ name: `pet ${acknowledged}`, categoryId: 1n });
    if (id !== lastId + 1n) lost += 1;
    acknowledged += 1;
    lastId = id;
  }
  for (const [code] of (await Promise.all(ended)) as [number | null][]) t.equal(code, 0);
  t.equal(lost, 0, `of ${acknowledged} acknowledged pets none is gone`);
  const kept = new Set<string>();
  for (let afterId = 0n; ;) {
    const page = await store.page({ afterId, count: 1_000, status: undefined });
    if (page.length === 0) break;
    for (const { name } of page) kept.add(name);
    afterId = page.at(-1)!.id;
  }
  t.equal(kept.size, acknowledged);
});
