import type { Test } from 'tap';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import { ask, change, dayName, freshId, newKey, NOON_MS, requestOf, rowsOf, standing } from './cast.js';
import { windowOf } from '../gateway/admission/verdict.js';
import { LIST } from './names.js';

/** Which keys are valid. */
export function verification(t: Test, engine: AdmissionEngine): void {
  t.test('a key nobody made, or another secret, is unknown', async (t) => {
    const key = await newKey(engine, 'free');
    t.same(await ask(engine, { kind: 'key', id: freshId(), secretHash: 'x' }, NOON_MS), {
      outcome: 'unknown_key',
      reason: 'unknown',
    });
    for (const secretHash of [
      '',
      ' ',
      ':',
      'x',
      `${key.record.secrets[0]!.hash}:`,
      key.record.secrets[0]!.hash.slice(1),
      key.record.secrets[0]!.hash.slice(0, -1),
      '.*',
    ]) {
      t.same(await ask(engine, { kind: 'key', id: key.id, secretHash }, NOON_MS), {
        outcome: 'unknown_key',
        reason: 'unknown',
      });
    }
    t.equal(
      windowOf(standing(await ask(engine, key, NOON_MS, { cost: 0 })), 'minute').remaining,
      60,
      'and nobody pays for that',
    );
    t.same(await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id), []);
  });

  t.test('disabled, revoked and expired hold on the very next request, and end there too', async (t) => {
    const key = await newKey(engine, 'free');
    const expectations: readonly [Partial<KeyRecord>, string][] = [
      [{ status: 'disabled' }, 'disabled'],
      [{ status: 'enabled' }, 'admitted'],
      [{ expiresAtMs: NOON_MS }, 'expired'],
      [{ expiresAtMs: NOON_MS + 1 }, 'admitted'],
      [{ plan: 'gone' }, 'no_plan'],
      [{ plan: 'enterprise' }, 'no_plan'],
      [{ plan: 'free', status: 'revoked', secrets: [] }, 'revoked'],
    ];
    for (const [changes, expected] of expectations) {
      await change(engine, key, changes);
      const verdict = await ask(engine, key, NOON_MS);
      t.equal(verdict.outcome === 'unknown_key' ? verdict.reason : verdict.outcome, expected, JSON.stringify(changes));
    }
  });

  t.test('during a rotation both secrets are one key; the old one ends on time', async (t) => {
    const key = await newKey(engine, 'calm');
    const old = key.record.secrets[0]!.hash;
    await change(engine, key, {
      secrets: [
        { hash: old, endsAtMs: NOON_MS + 1_000 },
        { hash: 'fresh', endsAtMs: null },
      ],
    });
    const fresh = { kind: 'key', id: key.id, secretHash: 'fresh' } as const;
    t.equal(windowOf(standing(await ask(engine, key, NOON_MS + 999)), 'minute').remaining, 2);
    t.equal(windowOf(standing(await ask(engine, fresh, NOON_MS + 999)), 'minute').remaining, 1, 'one bucket for both');
    t.same(await ask(engine, key, NOON_MS + 1_000), { outcome: 'unknown_key', reason: 'expired' });
    t.equal((await ask(engine, fresh, NOON_MS + 1_000)).outcome, 'admitted');
    const both = await engine.admit(
      [key.subject, fresh, fresh].map((subject) => ({
        subject,
        operation: LIST,
        scope: null,
        cost: 1,
        nowMs: NOON_MS + 60_000 + 999,
      })),
    );
    t.same(
      both.map((verdict) => verdict.outcome),
      ['unknown_key', 'admitted', 'admitted'],
      'also within one batch',
    );
  });

  t.test('an operation with a scope is never taken for one whose name says it', async (t) => {
    const key = await newKey(engine, 'free', { scopes: ['pets:read'] });
    const named = requestOf(key.subject, NOON_MS, { operation: 'list pets:write', scope: null });
    const scoped = requestOf(key.subject, NOON_MS, { operation: 'list', scope: 'pets:write' });
    for (const batch of [
      [named, scoped],
      [scoped, named],
    ]) {
      const verdicts = await engine.admit(batch);
      t.same(
        verdicts.map((verdict) => verdict.outcome === 'admitted' && verdict.inScope),
        batch.map((request) => request === named),
      );
    }
  });

  t.test('a key without the scope is charged and told so', async (t) => {
    const key = await newKey(engine, 'free', { scopes: ['pets:read', 'store:read'] });
    const expectations: readonly [string | null, boolean][] = [
      [null, true],
      ['pets:read', true],
      ['store:read', true],
      ['pets:write', false],
      ['pets', false],
      ['pets:rea', false],
    ];
    for (const [scope, inScope] of expectations) {
      const verdict = await ask(engine, key, NOON_MS, { scope });
      t.equal(verdict.outcome === 'admitted' && verdict.inScope, inScope, `scope ${scope ?? 'none'}`);
    }
    t.equal(windowOf(standing(await ask(engine, key, NOON_MS, { cost: 0 })), 'minute').remaining, 54);
    await change(engine, key, { scopes: [] });
    t.match(await ask(engine, key, NOON_MS, { scope: 'pets:read' }), { outcome: 'admitted', inScope: false });
    await change(engine, key, { scopes: null });
    t.match(await ask(engine, key, NOON_MS, { scope: 'pets:read' }), { outcome: 'admitted', inScope: true });
  });
}
