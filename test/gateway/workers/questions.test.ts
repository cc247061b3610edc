import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { Questions } from '../../../src/gateway/workers/questions.js';
import { recentOf } from '../../../src/gateway/observe/recent/exchange.js';
import { makeExchange } from '../exchange.js';
import { exchangeRaw } from '../../servers/raw.js';
import { startPair, workersOf } from './pair.js';

const one = recentOf(makeExchange({ id: 'one' }).exchange, 429, 1);

t.test('every worker is asked, and one that hangs is named instead of waited for', async (t) => {
  const { gateway, ask } = await startPair(t);
  const request = (id: string): string =>
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n`;
  while (workersOf(gateway).length < 2) await ask(10);
  const ids = Array.from({ length: 20 }, (_, n) => `mine-${n}`);
  for (const id of ids) await exchangeRaw(gateway.port, request(id), 1);
  const found = async (id: string): Promise<{ exchanges: readonly object[]; silentWorkers: number }> =>
    (await gateway.admin('GET', `/admin/v1/exchanges/${id}`)).body as never;
  for (const id of ids)
    t.match(await found(id), { exchanges: [{ request: id, code: 'missing_api_key', key: null }], gateways: [] });
  const byWorker = new Map<unknown, number>();
  for (const { pid, request: id } of gateway.program.lines())
    if (ids.includes(String(id))) byWorker.set(pid, (byWorker.get(pid) ?? 0) + 1);
  t.equal(byWorker.size, 2, 'both had some of them');
  const mine = { status: 401, code: 'missing_api_key', lastHour: ids.length };
  t.match((await gateway.admin('GET', '/admin/v1/refused')).body, { refused: [mine], silentWorkers: 0 });
  const [first] = [...byWorker.keys()];
  process.kill(Number(first), 'SIGSTOP');
  const answers = await Promise.all(ids.map(found));
  process.kill(Number(first), 'SIGCONT');
  t.ok(
    answers.every(({ silentWorkers }) => silentWorkers === 1),
    'its silence is told',
  );
  t.equal(answers.filter(({ exchanges }) => exchanges.length === 1).length, byWorker.get(workerBut(byWorker, first)));
});

function workerBut(workers: ReadonlyMap<unknown, number>, first: unknown): unknown {
  return [...workers.keys()].find((pid) => pid !== first);
}

t.test('a question ends when all have answered, or are gone; late answers do no harm', async (t) => {
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  const asked = new Questions<string>();
  t.strictSame(await asked.ask([], 100, () => t.fail('nobody is there')), { answers: [], silent: 0 });
  let number = 0;
  const answers = asked.ask([1, 2, 3], 60_000, (its) => (number = its));
  asked.answered(number, 1, 'one');
  asked.answered(number, 1, 'again');
  asked.forget(3);
  asked.answered(number, 2, 'two');
  t.strictSame(await answers, { answers: ['one', 'two'], silent: 0 });
  asked.answered(number, 2, 'late');
  t.strictSame(await asked.ask([1], 100, () => undefined), { answers: [], silent: 1 });
});

t.test('a worker answers its primary, and learns from it what all remember', async (t) => {
  const child = fork(fileURLToPath(new URL('asker.js', import.meta.url)), { serialization: 'advanced' });
  t.teardown(() => child.kill('SIGKILL'));
  const next = async (): Promise<Readonly<Record<string, unknown>>> =>
    ((await once(child, 'message')) as [Record<string, unknown>])[0];
  t.strictSame(await next(), { type: 'ask', number: 1, question: { request: 'theirs' } });
  child.send({ type: 'remember', number: 7, question: { request: 'mine' } });
  t.match(await next(), { type: 'remembered', number: 7, remembered: { exchanges: [{ id: 'mine', status: 429 }] } });
  child.send({ type: 'recalled', number: 1, recalled: { exchanges: [one], refused: [], silent: 0 } });
  t.match(await next(), { type: 'done', recalled: { exchanges: [{ id: 'one' }], silent: 0 } });
  t.match(await next(), { type: 'ask', number: 2 });
  const silence = { type: 'done', recalled: { exchanges: [], refused: [], silent: 1 } };
  t.strictSame(await next(), silence, 'a primary that does not respond keeps no worker waiting');
});
