import t from 'tap';
import { windowsOfHold } from '../../../../src/gateway/admission/settlement.js';
import type { StandingVerdict } from '../../../../src/gateway/admission/verdict.js';
import type { FailoverEngine } from '../../../../src/gateway/store/outage/engine.js';
import { createReporter } from '../../../../src/gateway/store/settlements.js';
import { ask, newKey, standing, type Actor } from '../../../conformance/cast.js';
import { LIST } from '../../../conformance/names.js';
import { until } from '../../../servers/until.js';
import { learnt, ledgerOf, outageBegins, outageEnds, startGateway } from './fixture.js';

const reportsOf = createReporter();
const HOLD = 50;

/** The response cost 20 of the 50 that were held. */
async function settle(engine: FailoverEngine, verdict: StandingVerdict): Promise<void> {
  const { keyId, plan, atMs, local } = verdict;
  const settlement = { units: -30, windows: windowsOfHold(verdict) };
  const request = { keyId: keyId!, plan, operation: LIST, admittedAtMs: atMs, isFailed: false };
  const ended = { ...request, isLocal: local, settlement };
  await engine.settle(reportsOf([ended]));
}

async function hold(engine: FailoverEngine, key: Actor): Promise<StandingVerdict> {
  return standing(await ask(engine, key, Date.now(), { cost: HOLD }));
}

/** What is left of minute and day. */
async function left(engine: FailoverEngine, key: Actor): Promise<readonly number[]> {
  const { windows } = standing(await ask(engine, key, Date.now(), { cost: 0 }));
  return windows.map(({ remaining }) => remaining);
}

for (const [held, settled] of [
  ['Redis', 'here'],
  ['here', 'here'],
  ['here', 'Redis'],
] as const)
  t.test(
    `what ${held} held and ${settled} settles costs what its response cost, on the bill and of the day`,
    async (t) => {
      const { server, engine } = await startGateway(t);
      const key = await newKey(engine, 'pro');
      await ask(engine, key, Date.now(), { cost: 0 });
      await learnt(engine, key);
      let verdict = held === 'Redis' ? await hold(engine, key) : undefined;
      await outageBegins(server, engine);
      verdict ??= await hold(engine, key);
      t.equal(verdict.local, held === 'here' ? true : undefined);
      if (settled === 'here') {
        const [, before] = await left(engine, key);
        await settle(engine, verdict);
        const [, after] = await left(engine, key);
        t.equal(after! - before!, held === 'here' ? 30 : 0, 'a share gets back only what it gave');
      }
      await outageEnds(server, engine);
      if (settled === 'Redis') await settle(engine, verdict);
      await until('all of it is in the ledger', async () => (await ledgerOf(engine, key)).returned === 30);
      t.match(await ledgerOf(engine, key), { requests: 1, units: 50, returned: 30 });
      t.equal((await left(engine, key))[1], 10_000 - 20);
    },
  );
