import { Command } from 'commander';
import { CommandError } from '../command-error.js';
import type { AdminClient } from '../client.js';
import type { Connect } from '../client.js';
import { cell, say, sayJson, styled, table } from '../output.js';
import { readCounter } from './counter.js';
import type { Counter } from './counter.js';
import { readLedger } from './ledger.js';
import { askedOf, nameOf, readLogs } from './access-log.js';
import type { LoggedDay } from './access-log.js';
import { dayOf } from '../../shared/utc-day.js';

interface ReconcileOptions {
  readonly day: string;
  readonly accessLog: readonly string[];
  readonly metrics?: readonly string[];
  readonly json?: true;
}

/** One place where two of the three disagree. */
interface Difference {
  readonly key: string;
  readonly plan: string;
  readonly operation: string;
  readonly ledger: number;
  readonly accessLog: number;
  /** The same in units. */
  readonly ledgerUnits: number;
  readonly accessLogUnits: number;
}
interface CounterDifference {
  readonly plan: string;
  readonly operation: string;
  readonly ledger: number;
  readonly counter: number;
}

/** What the ledger has, and nobody could say: the store's connection died before it answered. Its client got a 503. */
interface Unanswered {
  readonly key: string;
  readonly plan: string;
  readonly operation: string;
  readonly requests: number;
  readonly units: number;
}

interface Proof {
  readonly day: string;
  readonly equal: boolean;
  readonly totals: {
    readonly ledger: number;
    readonly accessLog: number;
    readonly counter: number | null;
    readonly ledgerUnits: number;
    readonly accessLogUnits: number;
  };
  readonly differences: readonly Difference[];
  readonly counterDifferences: readonly CounterDifference[];
  readonly unanswered: readonly Unanswered[];
  /** Why the counter was not compared; null when it was. */
  readonly counterLeftOut: string | null;
  readonly unreadableLines: number;
  /** Access lines that the gateways say they dropped: so many may be missing. */
  readonly droppedLines: number;
}

/** More are left to --json. */
const MOST_SHOWN = 100;

export function reconcileCommand(connect: Connect): Command {
  return new Command('reconcile')
    .description('compare ledger, access log and counter of one day; exit code 0 when they agree')
    .requiredOption('--day <day>', 'the UTC day, such as 2026-11-21')
    .requiredOption('--access-log <file...>', 'JSON lines of all gateways; .gz as well; - for standard input')
    .option('--metrics <url...>', "the /metrics of every gateway (only this one's unless said)")
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ day, accessLog, metrics = [], json }: ReconcileOptions) => {
      if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new CommandError('--day must be a day such as 2026-11-21.', 2);
      const client = await connect();
      const proof = await prove(client, day, await readLogs(accessLog, day), metrics);
      if (json === true) sayJson(proof);
      else show(proof);
      if (!proof.equal) process.exitCode = 1;
    });
}

async function prove(client: AdminClient, day: string, logged: LoggedDay, metrics: readonly string[]): Promise<Proof> {
  const differences: Difference[] = [];
  const unanswered: Unanswered[] = [];
  const byOperation = new Map<string, number>();
  let [total, totalUnits] = [0, 0];
  for await (const row of readLedger(client, { from: day, to: day, by: 'key,plan,operation' })) {
    const [key, plan, operation] = [row.get('key')!, row.get('plan')!, row.get('operation')!];
    const [requests, units] = [Number(row.get('requests')), Number(row.get('units'))];
    total += requests;
    totalUnits += units;
    byOperation.set(`${plan}\t${operation}`, (byOperation.get(`${plan}\t${operation}`) ?? 0) + requests);
    const log = logged.counts.get(nameOf(key, plan, operation)) ?? { requests: 0, units: 0 };
    logged.counts.delete(nameOf(key, plan, operation));
    const more = { requests: requests - log.requests, units: units - log.units };
    if (more.requests === 0 && more.units === 0) continue;
    if (more.requests > 0 && takeUnanswered(logged, key, operation, more.requests))
      unanswered.push({ key, plan, operation, ...more });
    else
      differences.push({
        ...{ key, plan, operation, ledger: requests, accessLog: log.requests },
        ...{ ledgerUnits: units, accessLogUnits: log.units },
      });
  }
  // What is left was logged and stands in no ledger.
  for (const [name, { requests: accessLog, units: accessLogUnits }] of logged.counts) {
    const [key = '', plan = '', operation = ''] = name.split('\t');
    differences.push({ key, plan, operation, ledger: 0, accessLog, ledgerUnits: 0, accessLogUnits });
  }
  for (const { plan, operation, requests } of unanswered) {
    const name = `${plan}\t${operation}`;
    byOperation.set(name, (byOperation.get(name) ?? 0) - requests);
  }
  const { counter, counterLeftOut } = await counterOf(client, day, logged, metrics);
  const counterDifferences = counter === null || counterLeftOut !== null ? [] : compareCounter(byOperation, counter);
  return {
    day,
    equal: differences.length === 0 && counterDifferences.length === 0,
    totals: {
      ledger: total,
      accessLog: logged.total.requests,
      counter: counter?.total ?? null,
      ledgerUnits: totalUnits,
      accessLogUnits: logged.total.units,
    },
    differences,
    counterDifferences,
    unanswered,
    counterLeftOut,
    unreadableLines: logged.unreadable,
    droppedLines: logged.dropped,
  };
}

/** Whether the log names so many requests of which nobody knows whether they were admitted; each explains one. */
function takeUnanswered({ unanswered }: LoggedDay, key: string, operation: string, requests: number): boolean {
  const name = askedOf(key, operation);
  const named = unanswered.get(name) ?? 0;
  if (named < requests) return false;
  unanswered.set(name, named - requests);
  return true;
}

/** The counter, and why it can't be held against this day. It counts from the start of its gateway on, whatever the day. */
async function counterOf(
  client: AdminClient,
  day: string,
  logged: LoggedDay,
  metrics: readonly string[],
): Promise<{ readonly counter: Counter | null; readonly counterLeftOut: string | null }> {
  try {
    const counter = await readCounter(client, metrics);
    return { counter, counterLeftOut: leftOut(counter, day, logged) };
  } catch (error) {
    return { counter: null, counterLeftOut: error instanceof Error ? error.message : String(error) };
  }
}

function leftOut({ sinceMs }: Counter, day: string, logged: LoggedDay): string | null {
  if (sinceMs === null) return 'a gateway does not say since when it counts';
  if (day !== dayOf(Date.now())) return 'the day is over, and a gateway counts on';
  if (sinceMs < Date.parse(day)) return 'a gateway has counted since before the day';
  if (logged.first !== null && Date.parse(logged.first) < sinceMs) return 'a gateway was restarted during the day';
  return null;
}

function compareCounter(ledger: ReadonlyMap<string, number>, { counts }: Counter): readonly CounterDifference[] {
  return [...new Set([...ledger.keys(), ...counts.keys()])].sort().flatMap((name) => {
    const [plan = '', operation = ''] = name.split('\t');
    const row = { plan, operation, ledger: ledger.get(name) ?? 0, counter: counts.get(name) ?? 0 };
    return row.ledger === row.counter ? [] : [row];
  });
}

function show({
  day,
  equal,
  totals,
  differences,
  counterDifferences,
  unanswered,
  counterLeftOut,
  ...lines
}: Proof): void {
  const { unreadableLines, droppedLines } = lines;
  say(`${day} (UTC): ledger ${totals.ledger}, access log ${totals.accessLog}, counter ${totals.counter ?? '-'}`);
  if (totals.ledgerUnits !== totals.ledger || totals.accessLogUnits !== totals.accessLog)
    say(`In units: ledger ${totals.ledgerUnits}, access log ${totals.accessLogUnits}`);
  if (counterLeftOut !== null) say(styled('dim', `The counter was not compared: ${cell(counterLeftOut)}`));
  if (unreadableLines > 0)
    say(`${unreadableLines} lines of admitted requests could not be read: no JSON, or without admittedAt.`);
  if (droppedLines > 0) say(`${droppedLines} access lines were dropped by gateways whose log nobody read.`);
  if (differences.length > 0) {
    say();
    say(
      table(
        ['key', 'plan', 'operation', 'ledger', 'access log', 'difference', 'in units'],
        differences
          .slice(0, MOST_SHOWN)
          .map((row) => [
            cell(row.key),
            cell(row.plan),
            cell(row.operation),
            row.ledger,
            row.accessLog,
            row.ledger - row.accessLog,
            row.ledgerUnits - row.accessLogUnits,
          ]),
      ),
    );
    if (differences.length > MOST_SHOWN) say(`and ${differences.length - MOST_SHOWN} more: --json names all`);
  }
  if (counterDifferences.length > 0) {
    say();
    say(
      table(
        ['plan', 'operation', 'ledger', 'counter', 'difference'],
        counterDifferences.map((row) => [
          cell(row.plan),
          cell(row.operation),
          row.ledger,
          row.counter,
          row.ledger - row.counter,
        ]),
      ),
    );
    say('With several gateways name the /metrics of each with --metrics.');
  }
  if (unanswered.length > 0) showUnanswered(unanswered);
  say(equal ? styled('green', 'They agree.') : styled('red', 'They differ.'));
}

function showUnanswered(unanswered: readonly Unanswered[]): void {
  say();
  say(
    table(
      ['key', 'plan', 'operation', 'unanswered', 'in units'],
      unanswered
        .slice(0, MOST_SHOWN)
        .map(({ key, plan, operation, requests, units }) => [cell(key), cell(plan), cell(operation), requests, units]),
    ),
  );
  if (unanswered.length > MOST_SHOWN) say(`and ${unanswered.length - MOST_SHOWN} more: --json names all`);
  say('These are in the ledger, and their clients got a 503: the connection to Redis died before it answered.');
}

const EXAMPLES = `
A day that is not over may differ by what is under way. The counter is compared when every gateway began to count
on that day, before its first request.
Examples:
  petgate usage reconcile --day 2026-11-21 --access-log gateway-1.log gateway-2.log.gz
  kubectl logs -l app=gateway --tail=-1 | petgate usage reconcile --day 2026-11-21 --access-log - --json`;
