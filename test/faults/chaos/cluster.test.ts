import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { slotOf } from '../../../src/gateway/store/redis/keyspace/slot.js';
import { startCluster, type RedisCluster, type RedisServer } from '../../servers/redis.js';
import { moveSlot } from '../../servers/slots.js';
import { startUpstream } from '../../servers/upstream.js';
import { EVENTS, type Events } from './events.js';
import { Fleet } from './fleet.js';
import { pick, repeat, type Random } from './random.js';
import { checkRehearsal } from './rehearsal.js';
import { checkLedger, settled, survive, TIMEOUT_MS } from './survive.js';

/** Longest pause before each name of a slot that moves. */
const SLOW_MS = 60;

/** Who serves a slot now, by its own word. */
async function masterOf(slot: number, masters: readonly RedisServer[]): Promise<RedisServer> {
  for (const node of masters) {
    const lines = String(await node.command('CLUSTER', 'NODES')).split('\n');
    const ranges = lines
      .find((line) => line.includes('myself'))!
      .split(' ')
      .slice(8);
    const isMine = ranges.some((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return slot >= first! && slot <= last!;
    });
    if (isMine) return node;
  }
  throw new Error(`nobody serves slot ${slot}`);
}

function outages({ masters }: RedisCluster): Events {
  const move = async (fleet: Fleet, random: Random): Promise<void> => {
    const slot = slotOf(`{${pick(fleet.holders, random).id}}`);
    const from = await masterOf(slot, masters);
    const to = pick(
      masters.filter((node) => node !== from),
      random,
    );
    const pauseMs = random() * SLOW_MS;
    let changes = random() < 0.5 ? 1 : 0;
    await moveSlot(masters, slot, from, to, async () => {
      if (changes-- > 0) await EVENTS['a key changes its plan']!(fleet, random);
      await sleep(pauseMs);
    });
  };
  return {
    'a slot moves': move,
    'a slot moves (again)': move,
    'a master stands still': async (_fleet, random) => {
      const master = pick(masters, random);
      master.freeze();
      await sleep(50 + random() * 850);
      master.thaw();
    },
    'a master is killed': async (_fleet, random) => {
      const master = pick(masters, random);
      await master.kill();
      await sleep(random() * 1_500);
      await master.restart();
    },
  };
}

t.setTimeout(TIMEOUT_MS);

t.test(
  `two gateways on a Cluster whose slots move: whatever happens, no count is lost and none is made up (${repeat})`,
  async (t) => {
    const cluster = await startCluster({ config: ['appendonly yes', 'appendfsync always'] });
    t.teardown(() => cluster.stop());
    const fleet = new Fleet(t, { environment: { REDIS_URL: cluster.url } }, await startUpstream(t));
    await survive(t, fleet, 2, { ...outages(cluster), ...EVENTS });
    await settled(fleet);
    await checkLedger(t, fleet);
    checkRehearsal(t, fleet);
  },
);
