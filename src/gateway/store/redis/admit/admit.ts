import { customerOf } from '../../records/customer-id.js';
import type { Plans } from '../../../admission/plan.js';
import { StoreUnavailable, type AdmissionRequest, type Late } from '../../../admission/port.js';
import type { Verdict } from '../../../admission/verdict.js';
import { PROBE, encode, type Call, type Section } from './call.js';
import { admissionScript } from './plans.js';
import { AnswerReader, planTable, unknownAnswers, type PlanTable } from './answers.js';
import { Unanswered } from '../link/errors.js';
import { dayNumber } from '../../../../shared/utc-day.js';
import type { Link } from '../link/link.js';
import { subjectName } from '../keyspace/names.js';
import type { Probe, Script } from '../link/script.js';

/** Size of the response that names another day: shorter than any other. */
const DAY_BYTES = 8;
/** Requests per script run: bounds how long Redis is busy with one (about 2 ms). */
const MAX_BATCH = 256;

/** The admission script with the plans that are part of it. */
interface Edition {
  readonly script: Script;
  readonly table: PlanTable;
  readonly onNoted: OnNoted;
}
/** Called with the keys whose admission noted an event, or may have (outbox/pending.ts). */
type OnNoted = (keyIds: readonly string[]) => void;

/** Returns the script and the table of these plans. @param emits whether crossings and bans emit events */
export function editionOf(plans: Plans, usageDays: number, emits = false, onNoted: OnNoted = () => undefined): Edition {
  return { script: admissionScript(plans, usageDays, emits), table: planTable(plans), onNoted };
}

/** Returns the admission script with a request of an address at cost 0: what a node must be able to do. */
export function probeOf(edition: Edition): Probe {
  return { script: edition.script, args: PROBE };
}

/** The day may change while a call is under way, but hardly ever twice. */
const DAYS_TRIED = 3;

/**
 * Decides a batch: on a single Redis in one run per `MAX_BATCH` requests, in a Cluster in one run per section, all sent
 * together and in order. If a run fails, the whole batch rejects; the error has the verdicts of the others, and the
 * indexes of the requests that had no effect.
 */
export async function admit(
  link: Link,
  edition: Edition,
  requests: readonly AdmissionRequest[],
): Promise<readonly Verdict[]> {
  const verdicts = new Array<Verdict | undefined>(requests.length).fill(undefined);
  const calls = callsOf(requests, link.cluster);
  const read = (call: Call, answers: Buffer, into: (Verdict | undefined)[]): void => {
    const reader = new AnswerReader(answers, edition.table);
    for (const index of indicesOf(call)) into[index] = reader.next(requests[index]!);
    if (reader.noted.length > 0) edition.onNoted(reader.noted);
  };
  const runs = await Promise.allSettled(
    calls.map(async (call) => read(call, await ask(link, edition, requests, call), verdicts)),
  );
  const failed = runs.find((each) => each.status === 'rejected');
  if (failed === undefined) return verdicts as Verdict[];
  // Nodes that did not respond may have decided, and noted events.
  edition.onNoted(
    calls.flatMap((call, n) => (runs[n]?.status === 'fulfilled' || hadNoEffect(runs[n]) ? [] : keysOf(requests, call))),
  );
  /** Resolves to the outcome of each request of an abandoned call once that is known. */
  const outcomesOf = async (call: Call, unanswered: Unanswered): Promise<(index: number) => Late> => {
    const answers = await unanswered.answer();
    if (typeof answers === 'string') return () => answers;
    const heard: (Verdict | undefined)[] = [];
    if (answers.length !== DAY_BYTES) read(call, answers, heard);
    return (index) => heard[index] ?? 'undone';
  };
  const late: (Promise<Late> | undefined)[] = [];
  calls.forEach((call, n) => {
    const reason: unknown = runs[n]?.status === 'rejected' ? runs[n].reason : undefined;
    if (!(reason instanceof Unanswered)) return;
    const outcomes = outcomesOf(call, reason).catch(() => () => 'unknown' as const);
    for (const index of indicesOf(call)) late[index] = outcomes.then((outcomeOf) => outcomeOf(index));
  });
  const reason: unknown = failed.reason;
  if (!(reason instanceof StoreUnavailable)) throw reason;
  const notSent = calls.flatMap((call, n) => (hadNoEffect(runs[n]) ? indicesOf(call) : []));
  throw new StoreUnavailable(reason.message, { decided: verdicts, notSent, late });
}

/** Runs the script; repeats it if the day on the store's clock is another one. */
async function ask(link: Link, edition: Edition, requests: readonly AdmissionRequest[], call: Call): Promise<Buffer> {
  let day = dayNumber(link.storeMs(call[0]!.name));
  for (let tried = 1; ; tried += 1) {
    const { names, args } = encode(requests, call, day);
    const answer = await link.run(
      edition.script,
      names,
      args,
      link.cluster ? () => unknownAnswers(indicesOf(call).length) : undefined,
    );
    if (answer.length !== DAY_BYTES) return answer;
    if (tried === DAYS_TRIED) throw new StoreUnavailable("Redis's clock keeps changing its day", { noEffect: true });
    day = answer.readDoubleLE(0);
  }
}

function hadNoEffect(run: PromiseSettledResult<void> | undefined): boolean {
  return run?.status === 'rejected' && run.reason instanceof StoreUnavailable && run.reason.noEffect;
}

function keysOf(requests: readonly AdmissionRequest[], call: Call): readonly string[] {
  return call.flatMap(({ indices: [index = 0] }) => {
    const { subject } = requests[index]!;
    return subject.kind === 'key' ? subject.id : [];
  });
}

function indicesOf(call: Call): readonly number[] {
  return call.flatMap(({ indices }) => indices);
}

/** Requests of one subject go together: the script reads its state once and decides them in order. */
function callsOf(requests: readonly AdmissionRequest[], onePerSection: boolean): readonly Call[] {
  const calls: Call[] = [];
  for (let start = 0; start < requests.length; start += MAX_BATCH) {
    const sections = sectionsOf(requests, start, Math.min(start + MAX_BATCH, requests.length));
    if (onePerSection) for (const section of sections) calls.push([section]);
    else calls.push(sections);
  }
  return calls;
}

/**
 * Returns a section per subject. The sections of a customer's keys keep the order of its requests: a key has two if
 * another key of the customer comes between.
 */
function sectionsOf(requests: readonly AdmissionRequest[], start: number, end: number): readonly Section[] {
  const sections: Section[] = [];
  const open = new Map<string, number[]>();
  const lastOf = new Map<string, string>();
  for (let index = start; index < end; index += 1) {
    const { subject } = requests[index]!;
    const name = subjectName(subject);
    const who = subject.kind === 'key' ? name : subject.address;
    const indices = open.get(who);
    if (indices !== undefined) {
      indices.push(index);
      continue;
    }
    const begun = [index];
    sections.push({ name, indices: begun });
    open.set(who, begun);
    const customerId = subject.kind === 'key' ? customerOf(subject.id) : null;
    if (customerId === null) continue;
    open.delete(lastOf.get(customerId) ?? '');
    lastOf.set(customerId, name);
  }
  return sections;
}
