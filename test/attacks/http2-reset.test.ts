import { constants } from 'node:http2';
import t from 'tap';
import { codeOf } from '../answers/honest.js';
import { makeToken } from '../../src/gateway/accounts/token.js';
import { frame, headers, openFrames, pseudo, TYPE, uint32, type FrameClient } from '../servers/frames.js';
import { openHttp2, type StreamAnswer } from '../servers/http2.js';
import type { RawAnswer } from '../servers/raw.js';
import { startRedis } from '../servers/redis.js';
import { startProxy } from '../servers/stalling-proxy.js';
import { until } from '../servers/until.js';
import { request, startHttp2Front } from './front.js';

const CONNECTIONS = 10;
/** Streams of each that are open at once: together less than `limits.exchanges`, twice as many are more. */
const WAVE = 80;
const ROUNDS = 3;

/** Opens streams in waves, each after it reset the one before, and waits until all are reset. */
async function attack(client: FrameClient, waves: number): Promise<void> {
  const { token } = makeToken('production');
  const fields = [...pseudo(), ['authorization', `Bearer ${token}`]] as const;
  for (let wave = 0; wave < waves; wave += 1) {
    await taken(
      client,
      idsOf(wave).map((id) => headers(id, fields)),
    );
    await taken(
      client,
      idsOf(wave).map((id) => frame(TYPE.reset, 0, id, uint32(constants.NGHTTP2_CANCEL))),
    );
  }
}

/** Writes frames, and waits until the gateway has read them, or has cut the connection. */
async function taken(client: FrameClient, frames: readonly Buffer[]): Promise<void> {
  const pongs = (): number => client.frames.filter(({ type }) => type === TYPE.ping).length;
  const before = pongs();
  client.write(...frames, frame(TYPE.ping, 0, 0, '12345678'));
  await until('the frames are read', () => client.closed() || pongs() > before);
}

const idsOf = (wave: number): readonly number[] => Array.from({ length: WAVE }, (_, n) => 2 * (wave * WAVE + n) + 1);

/** The attack: CVE-2023-44487 from ten connections with a made-up key, while each request waits for a slow store. */
t.test('ten connections that open and reset streams: all others are served, over HTTP/1 and HTTP/2', async (t) => {
  const redis = await startRedis();
  const proxy = await startProxy(redis.port);
  t.teardown(() => Promise.all([proxy.stop(), redis.stop()]));
  const { front } = await startHttp2Front(t, { environment: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` } });
  const other = openHttp2(t, front.target);
  await other.send({ key: front.key });
  const ends: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const attackers = await Promise.all(Array.from({ length: CONNECTIONS }, () => openFrames(t, front.target)));
    proxy.set('stall');
    const attacks = attackers.map((client) => attack(client, 2));
    const asked = Promise.all([
      ...Array.from({ length: 5 }, () => front.send(request('GET /v1/pets', front.key)).then(endOf)),
      ...Array.from({ length: 5 }, () => other.send({ key: front.key }).then(endOf)),
    ]);
    // Until then the store is silent: a stream that is answered is not one that its client gave up.
    await Promise.all(attacks);
    proxy.set('pass');
    ends.push(...(await asked));
    // Which its client sees a moment after it was done.
    await until('every connection of the attack is cut', () => attackers.every((client) => client.closed()));
  }
  // A machine that is busy may take longer to attack than a gateway waits for its store.
  const served = ends.filter((end) => end === '200' || end === 'store_unavailable').length;
  t.equal(served, ends.length, `${served} of ${ends.length} taken, all: ${[...new Set(ends)].join(', ')}`);
  await front.idle();
  t.equal(await front.good(), 200);
});

function endOf(answer: RawAnswer | StreamAnswer): string {
  if (answer.status === 0) return `reset ${'reset' in answer ? answer.reset : ''}`;
  return answer.status === 200 ? '200' : codeOf(answer);
}
