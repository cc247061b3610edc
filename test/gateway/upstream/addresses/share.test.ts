import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { packageRoot } from '../../../../src/shared/package-root.js';
import { codeOf } from '../../../answers/honest.js';
import { request, startFront, type Front } from '../../../attacks/front.js';
import { scrape } from '../../../servers/exposition.js';
import type { RawAnswer } from '../../../servers/raw.js';
import { until } from '../../../servers/until.js';
import { startUpstream, type Upstream } from '../../../servers/upstream.js';

const add = (front: Front): Promise<RawAnswer> =>
  front.send(`${request('POST /v1/pets', front.key, 'Content-Type: application/json', 'Content-Length: 2')}{}`);

/** POST hangs until the test answers it; everything else is answered at once. */
function hangPosts(upstream: Upstream): ServerResponse[] {
  const held: ServerResponse[] = [];
  upstream.handle = ({ method }, response) => {
    if (method === 'POST') held.push(response);
    else response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  };
  return held;
}

const queued = async (front: Front): Promise<number> =>
  (await scrape(front.gateway.adminUrl)).value('petgate_upstream_queued', { upstream: 'pets' });

t.test('an operation that hangs leaves connections for the others', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    config: { limits: { caller_share: 1 } },
    pets: { connections: 4, deadline: '60s' },
  });
  const held = hangPosts(upstream);
  const answers = Array.from({ length: 40 }, () => add(front));
  await until(
    'its share is taken, and its part of the queue',
    async () => held.length === 3 && (await queued(front)) === 12,
  );
  for (let n = 0; n < 20; n += 1) t.equal(await front.good(), 200, 'another operation is served');
  t.equal(held.length, 3, 'three of four connections, and no more');
  let released = 0;
  await until('all that waited were served', () => {
    for (const response of held.slice(released))
      response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
    released = held.length;
    return released === 15;
  });
  const all = await Promise.all(answers);
  t.equal(all.filter(({ status }) => status === 201).length, 15);
  const refused = all.filter(({ status }) => status !== 201);
  t.same(refused.map(codeOf), Array<string>(25).fill('overloaded'));
  t.ok(refused.every(({ headers }) => headers.get('retry-after') === '1'));
  await until('nothing is left', async () => (await queued(front)) === 0);
  t.equal(await front.good(), 200);
});

t.test('one whose client left while it waited gives its place to the next', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { connections: 2, deadline: '60s' } });
  const held = hangPosts(upstream);
  const first = add(front);
  await until('it is there', () => held.length === 1);
  const leaving = new AbortController();
  const gone = fetch(`http://127.0.0.1:${front.port}/v1/pets`, {
    method: 'POST',
    body: '{}',
    signal: leaving.signal,
    headers: { authorization: front.key.replace('Authorization: ', ''), 'content-type': 'application/json' },
  }).catch(() => undefined);
  await until('another waits', async () => (await queued(front)) === 1);
  const last = add(front);
  await until('and one more', async () => (await queued(front)) === 2);
  leaving.abort();
  await gone;
  await until('one is gone', async () => (await queued(front)) === 1);
  held[0]!.end();
  t.equal((await first).status, 200);
  await until('the last is sent', () => held.length === 2);
  held[1]!.end();
  t.equal((await last).status, 200);
  t.equal(upstream.seen.length, 2, 'nothing was sent for who left');
});

t.test('an operation has the deadline of its contract', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    pets: { deadline: '10m', breaker: 'off' },
    config: { contract: contractWith(t, 'createPet', '300ms') },
  });
  const held: { readonly method: string; readonly response: ServerResponse }[] = [];
  upstream.handle = ({ method }, response) => void held.push({ method, response });
  const listed = front.send(request('GET /v1/pets', front.key));
  await until('it is there', () => held.length === 1);
  const late = await add(front);
  t.same([late.status, codeOf(late)], [504, 'upstream_timeout']);
  held[0]!.response.end('[]');
  t.equal((await listed).status, 200, 'another, asked before, has still its time');
});

/** The contract as shipped, with a deadline for one operation. */
function contractWith(t: Test, operation: string, deadline: string): string {
  const path = join(t.testdir({}), 'openapi.yaml');
  const shipped = readFileSync(join(packageRoot, 'config/openapi.yaml'), 'utf8');
  const from = shipped.indexOf(`operationId: ${operation}`);
  writeFileSync(
    path,
    shipped.slice(0, from) + shipped.slice(from).replace('x-petgate: {', `x-petgate: { deadline: ${deadline},`),
  );
  return path;
}
