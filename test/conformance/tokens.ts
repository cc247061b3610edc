import type { Test } from 'tap';
import type { AdminToken } from '../../src/gateway/store/records/admin-token.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { freshId, NOON_MS } from './cast.js';

function tokenOf(id: string, more: Partial<AdminToken> = {}): AdminToken {
  const [name, hash] = [`émile "${id}"`, 'A'.repeat(43)];
  return { id, name, role: 'read', hash, createdAtMs: NOON_MS, createdBy: 'root', expiresAtMs: null, ...more };
}

/** Admin tokens: kept as they were given, listed by id, and gone with the very next read. */
export function tokens(t: Test, engine: AdmissionEngine): void {
  t.test('a token reads back as it was given, also in the list, until it is removed', async (t) => {
    const [first, second] = [freshId(), freshId()].sort();
    const made = [tokenOf(first!), tokenOf(second!, { role: 'operator', expiresAtMs: NOON_MS + 1 })];
    t.equal(await engine.tokens.read(first!), undefined);
    for (const token of [...made].reverse()) await engine.tokens.add(token);
    t.same(await engine.tokens.read(first!), made[0]);
    t.same(await engine.tokens.read(second!), made[1]);
    t.same(await engine.tokens.list(), made);
    t.equal(await engine.tokens.remove(first!), true);
    t.equal(await engine.tokens.read(first!), undefined);
    t.equal(await engine.tokens.remove(first!), false);
    t.same(await engine.tokens.list(), [made[1]]);
    t.equal(await engine.tokens.remove(second!), true);
    t.same(await engine.tokens.list(), []);
  });

  t.test('many at once are all there', async (t) => {
    const ids = Array.from({ length: 50 }, freshId).sort();
    await Promise.all(ids.map((id) => engine.tokens.add(tokenOf(id))));
    t.same(
      (await engine.tokens.list()).map(({ id }) => id),
      ids,
    );
    t.same(
      await Promise.all(ids.map((id) => engine.tokens.remove(id))),
      ids.map(() => true),
    );
  });

  t.test('a token is no key, and a key no token', async (t) => {
    const id = freshId();
    await engine.tokens.add(tokenOf(id));
    t.equal(await engine.keys.read(id), undefined);
    t.equal(
      (await engine.keys.page(null, 10_000)).some((key) => key.id === id),
      false,
    );
    await engine.tokens.remove(id);
  });
}
