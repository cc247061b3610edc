import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { dayOf } from '../../src/shared/utc-day.js';
import { Beside } from './beside.js';
import { startFleet, type SoakFleet } from './fleet.js';
import type { LoadReport, LoadTask } from './load.js';
import type { SoakOptions } from './options.js';
import { Watch, type Seen } from './watch.js';

const CONNECTIONS = 64;
/** Up to four tenths of the peak, no response is late; above it, none waits for a report. */
const QUIET_SHARE = 0.4;
const QUIET_LONGEST_MS = 60;
const LONGEST_MS = 500;
const PEAK_S = 10;
const MAX_FILES_MIB = 200;
/** What it may take beyond the time of the load, s. */
const GRACE_S = 120;

interface Minute extends Seen {
  readonly load: LoadReport;
}

/** Runs the whole soak and says what it saw; gives the promises that broke. */
export async function soak(
  options: SoakOptions,
  folder: string,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const fleet = await startFleet(options, folder);
  const watch = new Watch(fleet.gateway);
  const beside = new Beside();
  const fromDay = dayOf(Date.now());
  const peak = options.rate === null ? await measurePeak(fleet, options, say) : null;
  const rate = options.rate ?? Math.max(1, Math.round(peak!.rate * options.share));
  say('    s     ok   429   5xx broken     p50     p99  longest ms   MiB  files   loop ms  CPU ms');
  watch.start();
  beside.start(fleet.gateway, fleet.firstDay, options.store === 'redis', fleet);
  const minutes = await underLoad(options, rate, fleet, watch, say);
  await beside.stop();
  await watch.stop();
  const ledger = await totalsSince(fleet, fromDay);
  await fleet.stop();
  for (const [name, times] of beside.times)
    say(`${name}: ${times} times, at most ${Math.round(beside.longestMs.get(name) ?? 0)} ms`);
  for (const line of [...beside.failures.slice(0, 10), ...fleet.gateway.log.complaints.slice(0, 20)]) say(line);
  const problems = [
    ...brokenSums(fleet, [...(peak?.loads ?? []), ...minutes.map(({ load }) => load)], ledger, say),
    ...brokenBounds(minutes, options),
  ];
  if (beside.failures.length > 0) problems.push(`${beside.failures.length} of the things beside the load failed`);
  return problems;
}

/** The most that gateway and load manage on this machine now, requests a second. */
async function measurePeak(
  { gateway, tokens }: SoakFleet,
  { cpus }: SoakOptions,
  say: (line: string) => void,
): Promise<{ readonly rate: number; readonly loads: readonly LoadReport[] }> {
  const loads: LoadReport[] = [];
  const task = { tokens, connections: CONNECTIONS, rate: null, seconds: PEAK_S, reportSeconds: PEAK_S };
  await sendLoad({ ...task, port: gateway.port }, cpus, gateway, (load) => loads.push(load));
  const rate = loads.flatMap(({ statuses }) => Object.values(statuses)).reduce((sum, n) => sum + n, 0) / PEAK_S;
  say(`peak: ${rate.toFixed(0)} requests a second for ${PEAK_S} s`);
  return { rate, loads };
}

async function underLoad(
  { minutes, cpus }: SoakOptions,
  rate: number,
  { gateway, tokens }: SoakFleet,
  watch: Watch,
  say: (line: string) => void,
): Promise<readonly Minute[]> {
  const seconds = minutes * 60;
  const reportSeconds = Math.min(60, Math.ceil(seconds / 6));
  const task: LoadTask = { port: gateway.port, tokens, connections: CONNECTIONS, rate, seconds, reportSeconds };
  const seen: Minute[] = [];
  const beganMs = performance.now();
  await sendLoad(task, cpus, gateway, (load) => {
    const minute = { load, ...watch.take() };
    seen.push(minute);
    say(textOf(minute, (performance.now() - beganMs) / 1000));
  });
  return seen;
}

/** Resolves when the load has ended, or its time is over. */
async function sendLoad(
  task: LoadTask,
  cpus: number,
  gateway: SoakFleet['gateway'],
  onReport: (load: LoadReport) => void,
): Promise<void> {
  const child = startLoad(cpus);
  child.send(task);
  const late = setTimeout(() => child.kill('SIGKILL'), (task.seconds + GRACE_S) * 1000);
  const end = (): void => void child.kill();
  gateway.child.once('exit', end);
  child.on('message', (message) => {
    const load = message as LoadReport;
    onReport(load);
    if (load.ended) child.kill();
  });
  await once(child, 'exit');
  gateway.child.off('exit', end);
  clearTimeout(late);
}

/** On another processor than the gateway's, where that has one of its own. */
function startLoad(cpus: number): ChildProcess {
  const script = fileURLToPath(new URL('load.js', import.meta.url));
  if (cpus > 1) return fork(script);
  return fork(script, { execPath: 'taskset', execArgv: ['-c', '1', process.execPath] });
}

function textOf({ load, memoryMiB, filesMiB, loopMs, turnMs, notReady }: Minute, second: number): string {
  const { statuses, p50Ms, p99Ms, longestMs } = load;
  const figures = [
    [second.toFixed(0), 5],
    [String(statuses[200] ?? 0), 7],
    [String(statuses[429] ?? 0), 6],
    [String(failedOf(load)), 6],
    [String(statuses[0] ?? 0), 7],
    [p50Ms.toFixed(1), 8],
    [p99Ms.toFixed(1), 8],
    [longestMs.toFixed(0), 12],
    [memoryMiB.toFixed(0), 6],
    [filesMiB.toFixed(0), 7],
    [loopMs.toFixed(0), 10],
    [turnMs.toFixed(1), 8],
  ] as const;
  const ready = notReady.length === 0 ? '' : `  not ready ${notReady.length} times: ${notReady[0]!.slice(0, 300)}`;
  return figures.map(([text, width]) => text.padStart(width)).join('') + ready;
}

function failedOf({ statuses }: LoadReport): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => (Number(status) >= 500 ? sum + count : sum), 0);
}

interface Totals {
  readonly requests: number;
  readonly limited: number;
  readonly banned: number;
}

async function totalsSince({ gateway }: SoakFleet, from: string): Promise<Totals> {
  const report = JSON.parse(await gateway.admin('GET', `/admin/v1/usage?by=plan&from=${from}`)) as { totals: Totals };
  return report.totals;
}

/** Answers = ledger = access log. */
function brokenSums(
  { gateway: { log } }: SoakFleet,
  loads: readonly LoadReport[],
  { requests, limited, banned }: Totals,
  say: (line: string) => void,
): string[] {
  const answers = (status: number): number => loads.reduce((sum, { statuses }) => sum + (statuses[status] ?? 0), 0);
  const sums = [
    ['200', answers(200), requests, log.statuses.get(200) ?? 0],
    ['429', answers(429), limited + banned, log.statuses.get(429) ?? 0],
  ] as const;
  return sums.flatMap(([status, answered, counted, logged]) => {
    const text = `${status}: ${answered} answered, ${counted} in the ledger, ${logged} in the access log`;
    say(text);
    return answered === counted && answered === logged ? [] : [text];
  });
}

function brokenBounds(minutes: readonly Minute[], { store, isTimed, rate, share }: SoakOptions): string[] {
  const problems: string[] = [];
  const failed = minutes.reduce((sum, { load }) => sum + failedOf(load) + (load.statuses[0] ?? 0), 0);
  const longestMs = Math.max(...minutes.map(({ load }) => load.longestMs));
  const filesMiB = Math.max(...minutes.map(({ filesMiB: files }) => files));
  if (minutes.at(-1)?.load.ended !== true) problems.push('the load did not end in time: requests wait for answers');
  if (failed > 0) problems.push(`${failed} requests failed or broke`);
  const boundMs = rate === null && share <= QUIET_SHARE ? QUIET_LONGEST_MS : LONGEST_MS;
  if (isTimed && longestMs > boundMs) problems.push(`an answer took ${Math.round(longestMs)} ms`);
  if (store === 'embedded' && filesMiB > MAX_FILES_MIB) problems.push(`the files grew to ${Math.round(filesMiB)} MiB`);
  const grown = growthOf(minutes);
  if (grown > 1.5) problems.push(`memory grew to ${grown.toFixed(2)} times what it was after a third of the time`);
  const notReady = minutes.reduce((sum, { notReady: times }) => sum + times.length, 0);
  if (notReady > 0) problems.push(`/readyz said not ready ${notReady} times`);
  return problems;
}

/** Memory at the end beside that after a third of the time. */
function growthOf(minutes: readonly Minute[]): number {
  const third = minutes[Math.floor(minutes.length / 3)]?.memoryMiB ?? 0;
  return third === 0 ? 0 : (minutes.at(-2)?.memoryMiB ?? 0) / third;
}
