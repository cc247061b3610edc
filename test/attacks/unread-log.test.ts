import { once } from 'node:events';
import t from 'tap';
import { LINES_DROPPED } from '../../src/shared/log-lines.js';
import { exchangeRaw } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { metricOf, request, startFront } from './front.js';

const CLIENTS = 20;
/** One worker may have all clients: `limits.pipelined` is 1,000. */
const AT_ONCE = 50;
const MAX_REQUESTS = 80_000;
/** As long as an id may be, so that lines are long. */
const ID = `X-Request-Id: ${'i'.repeat(128)}`;

/** The accident: whoever reads the log stands still, and the kernel's pipe is full. */
t.test('a log that nobody reads: requests never wait, and each line is there at last or counted', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { environment: { PETGATE_WORKERS: '2' } });
  const { child } = front.gateway.program;
  child.stdout!.pause();
  const asked = Buffer.from(request('OPTIONS /v1/pets', ID).repeat(AT_ONCE));
  const dropped = (): Promise<number> => metricOf(front.gateway, 'petgate_log_dropped_lines_total');
  const statuses: Record<number, number> = {};
  let requests = 0;
  while (requests < MAX_REQUESTS && (await dropped()) < 1000) {
    requests += CLIENTS * AT_ONCE;
    const answers = await Promise.all(Array.from({ length: CLIENTS }, () => exchangeRaw(front.target, asked, AT_ONCE)));
    for (const { status } of answers.flat()) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  t.same(statuses, { 204: requests }, 'all are answered');
  const missing = await dropped();
  t.ok(missing >= 1000, `${missing} lines were dropped`);

  child.stdout!.resume();
  const lines = (msg: string): readonly Readonly<Record<string, unknown>>[] =>
    front.gateway.program.lines().filter((line) => line['msg'] === msg);
  const told = (): number => lines(LINES_DROPPED).reduce((sum, line) => sum + Number(line['accessLines']), 0);
  await until('each line is there, or told of', () => lines('exchange').length + told() === requests);
  t.equal(told(), missing);
});

t.test('a log whose reader has gone: both workers serve on, and each lost line is counted', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { environment: { PETGATE_WORKERS: '2' } });
  const { child } = front.gateway.program;
  child.stdout!.destroy();
  await once(child.stdout!, 'close');
  const rounds = 20;
  for (let round = 0; round < rounds; round += 1) t.equal(await front.good(), 200);
  await until('each line is counted', async () => {
    return (await metricOf(front.gateway, 'petgate_log_dropped_lines_total')) >= rounds;
  });
  t.equal(child.exitCode, null);
});
