import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { openEmbeddedEngine } from '../../../../../src/gateway/admission/engines/embedded/engine.js';
import { eraseKey } from '../../../../../src/gateway/keys/erase.js';
import { KeyRegistry } from '../../../../../src/gateway/keys/registry.js';
import { PLANS } from '../../../../conformance/cast.js';
import { tempFolder } from './fixture.js';

const OTHERS = 200;

/** How often a text stands in the files of a folder. */
function countIn(folder: string, text: string): number {
  const names = readdirSync(folder).filter((name) => name.includes('.mdb'));
  const files = names.map((name) => readFileSync(join(folder, name), 'latin1'));
  return files.join('').split(text).length - 1;
}

t.test('the names of erased keys are gone from the files, though nobody writes there any more', async (t: Test) => {
  const folder = tempFolder(t);
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 2 ** 26 });
  t.teardown(() => engine.close());
  const registry = new KeyRegistry({
    ...{ engine, plans: () => PLANS, scopes: [], costs: new Map(), environment: 'staging', acceptImported: false },
  });
  const ids: string[] = [];
  let traced = 0;
  for (let n = 0; n < OTHERS; n += 1)
    ids.push((await registry.create({ plan: 'free', name: `Key ${n}`, note: 'n'.repeat(n) })).record.id);
  for (const [n, id] of ids.filter((_, place) => place % 20 === 0).entries()) {
    const name = `Ada the ${n}th`;
    await registry.change(id, { name, note: `${name} calls at night` });
    await engine.bans.start(id, Date.now() + 60_000, { reason: `${name} asked for it`, actor: 'ops' });
    await registry.note(id, 'banned', { reason: `${name} asked for it` });
    await registry.revoke(id);
    t.ok(countIn(folder, name) > 2, 'in record, history and ban');
    await eraseKey({ registry, engine }, id, 'ops');
    if (countIn(folder, name) > 0) traced += 1;
    t.match(await engine.keys.read(id), { id, name: '', note: '', status: 'revoked' });
  }
  // What lmdb keeps between the rows of a page that was split is its own affair.
  t.ok(traced <= 3, 'hardly a trace of ten', { traced });
});
