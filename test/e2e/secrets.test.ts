import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ADMIN_TOKEN, INTERNAL_TOKEN, startGateway, type Gateway } from '../servers/gateway.js';
import { startPets } from '../servers/pets.js';
import { exchangeRaw, type RawAnswer } from '../servers/raw.js';
import { redisFor } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { openClient } from './client.js';

/** Everything a gateway writes somewhere, by where. */
type Places = Map<string, Buffer>;

function addFolder(places: Places, folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      places.set(join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name)));
  }
}

/** Uses keys in every way there is, good and bad, and gives all that must stay secret. */
async function live(gateway: Gateway): Promise<{ secrets: string[]; answers: Buffer }> {
  const secrets: string[] = [];
  const wrongs: Promise<unknown>[] = [];
  for (const plan of ['free', 'pro']) {
    const { id, key } = await gateway.createKey({ plan });
    const rotated = await gateway.admin('POST', `/admin/v1/keys/${id}/rotate`, { overlap: '1h' });
    const { key: second } = rotated.body as { key: string };
    secrets.push(key, second);
    for (const token of [key, second]) {
      const about = `Host: x\r\nConnection: close\r\n`;
      const bearer = `Authorization: Bearer ${token}\r\n`;
      wrongs.push(
        exchangeRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\n${about}${bearer}\r\n`),
        exchangeRaw(gateway.port, `GET /v1/${token} HTTP/1.1\r\n${about}${bearer}\r\n`),
        exchangeRaw(gateway.port, `GET /v1/pets?limit=${token} HTTP/1.1\r\n${about}${bearer}\r\n`),
        exchangeRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\n${about}Authorization: Basic ${token}\r\n\r\n`),
        exchangeRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\n${about}Authorization: Bearer ${token}x\r\n\r\n`),
        exchangeRaw(gateway.port, `GET /v1/pets HTTP/1.1\r\n${about}${bearer}broken line\r\n\r\n`),
        exchangeRaw(gateway.port, `GET /v1/pets HTTP/9.9\r\n${about}${bearer}\r\n`),
        exchangeRaw(
          gateway.port,
          `POST /v1/pets HTTP/1.1\r\n${about}${bearer}Content-Type: application/json\r\nContent-Length: ` +
            `${token.length + 2}\r\n\r\n"${token}"`,
        ),
        gateway.admin('GET', `/admin/v1/keys/${token}`),
        gateway.admin('GET', `/admin/v1/usage?key=${token}`),
        gateway.admin('PATCH', `/admin/v1/keys/${id}`, { plan: token }),
        gateway.admin('GET', '/admin/v1/keys'),
      );
    }
    await Promise.all(wrongs);
    await gateway.admin('DELETE', `/admin/v1/keys/${id}`);
    await openClient({ teardown: () => undefined }, gateway.url, 1).send(key);
  }
  const answers = (await Promise.all(wrongs)).map((answer) =>
    Array.isArray(answer) ? answer.map(({ headers, body }: RawAnswer) => [...headers, body]) : answer,
  );
  // The secret part alone would do as well.
  return {
    secrets: [...secrets, ...secrets.map((token) => token.slice(-32, -6)), ADMIN_TOKEN, INTERNAL_TOKEN],
    answers: Buffer.from(JSON.stringify(answers)),
  };
}

for (const engine of ['embedded', 'redis'] as const) {
  t.test(`${engine}: no secret stands in any log, answer, file, metric, argument or in the store`, async (t) => {
    const redis = await redisFor(t, { config: ['appendonly yes', 'appendfsync always'] });
    const pets = await startPets(t);
    const gateway = await startGateway(t, {
      config: { store: { deadline: '10s' } },
      environment: { LOG_LEVEL: 'trace', PETS_URL: pets.url, ...(engine === 'redis' ? { REDIS_URL: redis.url } : {}) },
    });
    const { secrets, answers } = await live(gateway);
    await until('all exchanges are logged', () => gateway.exchanges().length >= 32);

    const places: Places = new Map([['answers', answers]]);
    places.set('/metrics', Buffer.from(await (await fetch(`${gateway.adminUrl}/metrics`)).text()));
    places.set(
      'arguments',
      Buffer.concat([gateway, pets].map(({ program }) => readFileSync(`/proc/${program.pid}/cmdline`))),
    );
    await Promise.all([gateway.program.stop(), pets.program.stop()]);
    places.set("the gateway's output", Buffer.from(gateway.program.output()));
    places.set('the output of pets', Buffer.from(pets.program.output()));
    addFolder(places, gateway.dataFolder);
    addFolder(places, pets.dataFolder);
    if (engine === 'redis') addFolder(places, ((await redis.command('CONFIG', 'GET', 'dir')) as [string, string])[1]);

    const bytes = [...places.values()].reduce((sum, { length }) => sum + length, 0);
    t.ok(bytes > 10_000, `${places.size} places, ${bytes} bytes were searched`);
    const found = [...places].flatMap(([place, content]) =>
      secrets.filter((secret) => content.includes(secret)).map(() => place),
    );
    t.same(found, [], 'no secret was found');
    // The search itself: what may stand there is found.
    const id = secrets[0]!.split('_')[2]!.slice(0, 12);
    const store = [...places].filter(([place]) => place.startsWith('/') && place !== '/metrics');
    t.ok(
      store.some(([, content]) => content.includes(id)),
      'the public id is found in the store',
    );
    t.ok(gateway.program.output().includes(id), 'and in the log');
  });
}
