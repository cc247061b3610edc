import { Command } from 'commander';
import { CommandError } from '../terminal/command-error.js';
import type { AdminClient, Connect, Json } from '../admin/admin-client.js';
import { say, sayJson, styled } from '../terminal/output.js';
import { cell } from '../../shared/text/readable.js';
import { rowsOf } from '../actions/print.js';
import { readCounter, type Counter } from './counter.js';
import { readLedger } from './ledger.js';
import { nameOf, readLogs, type Admitted, type LoggedDay } from './access-log.js';
import { dayOf, isDay } from '../../shared/utc-day.js';

interface ReconcileOptions {
  readonly day: string;
  readonly accessLog: readonly string[];
  readonly metrics?: readonly string[];
  readonly json?: true;
}

/** A difference of ledger and log or counter; or requests that only the ledger has, because the connection broke. */
type Row = Readonly<Record<string, string | number>>;

/** Rows shown; --json has all. */
const MAX_SHOWN = 100;

export function reconcileCommand(connect: Connect): Command {
  return new Command('reconcile')
    .description('compare ledger, access log and counter of one day; exit code 0 when they agree')
    .requiredOption('--day <day>', 'the UTC day, such as 2026-11-21')
    .requiredOption(
      '--access-log <file...>',
      'access logs of all gateways: JSON lines, also .gz; - reads standard input',
    )
    .option('--metrics <url...>', "the /metrics of every gateway (default: only this gateway's)")
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ day, accessLog, metrics = [], json }: ReconcileOptions) => {
      if (!isDay(day)) throw new CommandError('--day must be a calendar day such as 2026-11-21.', 2);
      const client = await connect();
      const proof = await prove(client, day, await readLogs(accessLog, day), metrics);
      if (json === true) sayJson(proof);
      else show(proof);
      if (!proof.equal) process.exitCode = 1;
    });
}

async function prove(client: AdminClient, day: string, logged: LoggedDay, metrics: readonly string[]) {
  const { differences, unanswered, byOperation, ledger, ledgerUnits } = await compareLog(client, day, logged);
  const { counter, counterLeftOut } = await readCounter(client, metrics).then(
    (counter) => ({ counter, counterLeftOut: leftOut(counter, day, logged) }),
    (error: unknown) => ({ counter: null, counterLeftOut: (error as Error).message }),
  );
  const counterDifferences = counter === null || counterLeftOut !== null ? [] : compareCounter(byOperation, counter);
  const { requests: accessLog, units: accessLogUnits } = logged.total;
  return {
    day,
    equal: differences.length === 0 && counterDifferences.length === 0,
    totals: { ledger, accessLog, counter: counter?.total ?? null, ledgerUnits, accessLogUnits },
    differences,
    counterDifferences,
    /** Requests whose store connection broke before the response: their clients got a 503. */
    unanswered,
    /** Why the counter was not compared; null if it was. */
    counterLeftOut,
    unreadableLines: logged.unreadable,
    /** Access lines that the gateways report as dropped: up to this many may be missing. */
    droppedLines: logged.dropped,
  };
}

async function compareLog(client: AdminClient, day: string, logged: LoggedDay) {
  const [differences, unanswered, byOperation] = [[] as Row[], [] as Row[], new Map<string, number>()];
  let [ledger, ledgerUnits] = [0, 0];
  for await (const row of readLedger(client, { from: day, to: day, by: 'key,plan,operation' })) {
    const { key = '', plan = '', operation = '', returned = 0 } = row;
    const requests = Number(row['requests']);
    const units = Number(row['units']) - Number(returned);
    ledger += requests;
    ledgerUnits += units;
    const name = nameOf(key, plan, operation);
    const log = logged.counts.get(name) ?? { requests: 0, units: 0 };
    logged.counts.delete(name);
    const more = { requests: requests - log.requests, units: units - log.units };
    const isUnanswered = more.requests > 0 && takeUnanswered(logged, key, operation, more.requests);
    const counted = nameOf(plan, operation);
    byOperation.set(counted, (byOperation.get(counted) ?? 0) + (isUnanswered ? log.requests : requests));
    if (isUnanswered) unanswered.push({ key, plan, operation, ...more });
    else if (more.requests !== 0 || more.units !== 0)
      differences.push(differenceOf([key, plan, operation], { requests, units }, log));
  }
  // The rest was logged, but is not in the ledger.
  for (const [name, log] of logged.counts)
    differences.push(differenceOf(name.split('\t'), { requests: 0, units: 0 }, log));
  return { differences, unanswered, byOperation, ledger, ledgerUnits };
}

function differenceOf([key = '', plan = '', operation = '']: readonly string[], ledger: Admitted, log: Admitted): Row {
  const requests = { ledger: ledger.requests, accessLog: log.requests };
  return { key, plan, operation, ...requests, ledgerUnits: ledger.units, accessLogUnits: log.units };
}

/** Uses up unanswered requests of the log to explain `requests` that only the ledger has; false if too few. */
function takeUnanswered({ unanswered }: LoggedDay, key: string, operation: string, requests: number): boolean {
  const name = nameOf(key, operation);
  const named = unanswered.get(name) ?? 0;
  if (named < requests) return false;
  unanswered.set(name, named - requests);
  return true;
}

/** Returns why the counter can't be compared with this day, null if it can: it counts from its gateway's start. */
function leftOut({ sinceMs }: Counter, day: string, logged: LoggedDay): string | null {
  if (sinceMs === null) return 'a gateway does not report when it began to count';
  if (day !== dayOf(Date.now())) return 'the day is over, and gateways have counted since';
  if (sinceMs < Date.parse(day)) return 'a gateway has counted since before the day';
  if (logged.first !== null && Date.parse(logged.first) < sinceMs) return 'a gateway was restarted during the day';
  return null;
}

/** The label in metrics for operations without a series of their own, if the contract has many. */
const OTHER = 'other';

function compareCounter(byName: ReadonlyMap<string, number>, { counts }: Counter): readonly Row[] {
  const ledger = new Map<string, number>();
  for (const [name, requests] of byName) {
    const other = name.replace(/\t.*/s, `\t${OTHER}`);
    const label = counts.has(name) || !counts.has(other) ? name : other;
    ledger.set(label, (ledger.get(label) ?? 0) + requests);
  }
  return [...new Set([...ledger.keys(), ...counts.keys()])].sort().flatMap((name) => {
    const [plan = '', operation = ''] = name.split('\t');
    const row = { plan, operation, ledger: ledger.get(name) ?? 0, counter: counts.get(name) ?? 0 };
    return row.ledger === row.counter ? [] : [row];
  });
}

function show(proof: Awaited<ReturnType<typeof prove>>): void {
  const { day, equal, totals, counterLeftOut, unreadableLines, droppedLines } = proof;
  say(`${day} (UTC): ledger ${totals.ledger}, access log ${totals.accessLog}, counter ${totals.counter ?? '-'}`);
  if (totals.ledgerUnits !== totals.ledger || totals.accessLogUnits !== totals.accessLog)
    say(`In units: ledger ${totals.ledgerUnits}, access log ${totals.accessLogUnits}`);
  if (counterLeftOut !== null) say(styled('dim', `The counter was not compared: ${cell(counterLeftOut)}`));
  if (unreadableLines > 0)
    say(`${unreadableLines} lines of admitted requests could not be read: not JSON, or without admittedAt.`);
  if (droppedLines > 0) say(`Gateways dropped ${droppedLines} access lines because nothing read their log.`);
  const names = ['key', 'plan', 'operation'];
  const difference = ['difference', (row: Json) => Number(row['ledger']) - Number(row['accessLog'])] as const;
  const inUnits = ['in units', (row: Json) => Number(row['ledgerUnits']) - Number(row['accessLogUnits'])] as const;
  const log = ['access log', (row: Json) => row['accessLog']] as const;
  showRows(proof.differences, [...names, 'ledger', log, difference, inUnits], '');
  const ofCounter = ['difference', (row: Json) => Number(row['ledger']) - Number(row['counter'])] as const;
  const hint = 'With several gateways, name the /metrics of each with --metrics.';
  showRows(proof.counterDifferences, ['plan', 'operation', 'ledger', 'counter', ofCounter], hint);
  const lost = [
    ['unanswered', (row: Json) => row['requests']] as const,
    ['in units', (row: Json) => row['units']] as const,
  ];
  const why = 'These are in the ledger, but their clients got a 503: the connection to Redis broke too early.';
  showRows(proof.unanswered, [...names, ...lost], why);
  say(equal ? styled('green', 'They agree.') : styled('red', 'They differ.'));
}

function showRows(rows: readonly Row[], columns: Parameters<typeof rowsOf>[0], note: string): void {
  if (rows.length === 0) return;
  say(`\n${rowsOf(columns, rows.slice(0, MAX_SHOWN))}`);
  if (rows.length > MAX_SHOWN) say(`and ${rows.length - MAX_SHOWN} more: --json lists all`);
  if (note !== '') say(note);
}

const EXAMPLES = `
A day that is not over may differ by the requests in flight. The counter is compared if every gateway began to count
on that day, before its first request.
Examples:
  petgate usage reconcile --day 2026-11-21 --access-log gateway-1.log gateway-2.log.gz
  kubectl logs -l app=petgate-gateway --tail=-1 | petgate usage reconcile --day 2026-11-21 --access-log - \\
    --metrics http://10.0.0.2:9090/metrics http://10.0.0.3:9090/metrics`;
