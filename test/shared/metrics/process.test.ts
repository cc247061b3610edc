import { Registry } from 'prom-client';
import t from 'tap';
import { addProcessMetrics } from '../../../src/shared/metrics/process.js';

/** The value of one line of the registry's text. */
async function read(registry: Registry, line: string): Promise<number> {
  const found = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${line} `));
  return Number(found?.slice(line.length));
}

/** Takes so much time, and so much of the processor, however many want it. */
function block(forMs: number, cpuMs: number): void {
  const endMs = performance.now() + forMs;
  const before = process.cpuUsage();
  while (performance.now() < endMs || process.cpuUsage(before).user < cpuMs * 1000);
}

t.test('a blocked event loop shows as delay, as busy time and as CPU time', async (t) => {
  const registry = new Registry();
  addProcessMetrics(registry, 'x');
  const busyBefore = await read(registry, 'x_event_loop_busy_seconds_total');
  const cpuBefore = await read(registry, 'x_process_cpu_seconds_total');
  block(400, 150);
  await new Promise((resolve) => setTimeout(resolve, 120));
  const count = await read(registry, 'x_event_loop_delay_seconds_count');
  t.ok(count >= 1);
  t.ok(
    count - (await read(registry, 'x_event_loop_delay_seconds_bucket{le="0.25"}')) >= 1,
    'a tick that was over 250 ms late',
  );
  t.ok((await read(registry, 'x_event_loop_busy_seconds_total')) - busyBefore >= 0.35, 'busy for 400 ms');
  t.ok((await read(registry, 'x_process_cpu_seconds_total')) - cpuBefore >= 0.1, 'CPU was taken');
  t.ok((await read(registry, 'x_process_resident_memory_bytes')) > 2 ** 24);
});
