import type { Test } from 'tap';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DAY_MS } from '../../src/gateway/admission/bucket.js';
import { payerOf } from '../../src/gateway/store/records/customer-id.js';
import type { CustomerRecord } from '../../src/gateway/store/records/customer.js';
import { BAN_MEMORY_MS } from '../../src/gateway/admission/plan.js';
import { windowsOfHold } from '../../src/gateway/admission/settlement.js';
import type { AdmissionRequest, Subject } from '../../src/gateway/admission/port.js';
import type { StandingVerdict, Verdict } from '../../src/gateway/admission/verdict.js';
import { NO_CHANGE } from '../../src/gateway/store/outbox/event.js';
import type { KeyChange, KeyRecord } from '../../src/gateway/store/records/key.js';
import { keyRecord } from '../gateway/admission/key-record.js';
import { dayName, freshCustomerId, freshId, NOON_MS, rowsOf } from './cast.js';
import type { SteeredEngine } from './reference.js';
import { EDITIONS, initialRecord, KEYS, LONE_KEYS, longRecords, longStory, story, SUBJECTS } from './sequence.js';
import type { Event, Request } from './sequence.js';
import { createReporter } from '../../src/gateway/store/settlements.js';
import { windowOf } from '../gateway/admission/verdict.js';
import { LIST } from './names.js';

const reportsOf = createReporter();

/** PETGATE_LONG=1 takes more. */
const STORIES = process.env['PETGATE_LONG'] === '1' ? 1_000 : 400;
/** No story jumps beyond the year 7000: a day that the test tells Redis has three digits of seven bits. */
const LAST_MS = Date.UTC(7000, 0);
/** A story tells of fewer. */
const MAX_TOLD = 1_000;
/** On a busy machine stories end here, and these are enough of them; whoever asked for a number gets all. */
const ENOUGH_MS = 90_000;
const ENOUGH = 25;
const isCounted = process.env['PETGATE_LONG'] === '1' || process.env['PETGATE_PROPERTY_RUNS'] !== undefined;
const RUNS = Number(process.env['PETGATE_PROPERTY_RUNS'] ?? STORIES);

/**
 * Drives all `engines` with the same random stories and asks for the same verdicts, byte for byte, and
 * for what holds whatever the story: no window admits more than its limit, and the ledger is what was
 * decided. A failure names seed and path: PETGATE_PROPERTY_SEED runs it again.
 */
export async function lockStep(t: Test, engines: readonly SteeredEngine[]): Promise<void> {
  const records = fc.array(initialRecord(NOON_MS), { minLength: KEYS, maxLength: KEYS });
  await check(t, engines, records, story(NOON_MS), RUNS);
}

/** The same with stories that last for days, while stores forget what is over. */
export async function lockStepOfDays(t: Test, engines: readonly SteeredEngine[]): Promise<void> {
  await check(t, engines, fc.constant(longRecords()), longStory(NOON_MS), Math.ceil(RUNS / 8));
}

async function check(
  t: Test,
  engines: readonly SteeredEngine[],
  records: fc.Arbitrary<readonly Partial<KeyRecord>[]>,
  stories: fc.Arbitrary<readonly Event[]>,
  runs: number,
): Promise<void> {
  await Promise.all(engines.map((engine) => engine.check()));
  const seed = Number(process.env['PETGATE_PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
  t.comment(`seed ${seed}, ${runs} stories`);
  let verdicts = 0;
  let crossings = 0;
  const property = fc.asyncProperty(records, stories, async (initial, events) => {
    const told = await tell(engines, initial, events);
    verdicts += told.verdicts;
    crossings += told.events;
  });
  const startMs = performance.now();
  const outcome = await fc.check(property, {
    numRuns: runs,
    seed,
    plugins: [fc.interruptAfterTimeLimit(ENOUGH_MS, { failOnInterrupt: isCounted })],
  });
  if (outcome.failed) t.fail(`${String(outcome.errorInstance)} ${fc.defaultReportMessage(outcome)}`);
  else
    t.ok(
      outcome.numRuns >= Math.min(runs, ENOUGH),
      `${verdicts} verdicts and ${crossings} events of ${outcome.numRuns} stories equal and sound in ` +
        `${Math.round(performance.now() - startMs)} ms`,
    );
}

/** Plays one story; how many verdicts and events were compared. */
async function tell(
  engines: readonly SteeredEngine[],
  initial: readonly Partial<KeyRecord>[],
  events: readonly Event[],
): Promise<Pick<Story, 'verdicts' | 'events'>> {
  const run = new Story(engines);
  await run.begin(initial);
  for (const event of events) await run.play(event);
  await run.end();
  return run;
}

/** An admission of a key that has not ended. */
interface Hold {
  readonly operation: string;
  readonly verdict: StandingVerdict;
  /** Its lease, by engine. */
  readonly leases: readonly (number | undefined)[];
}

/** Each engine counts leases in its own way; whether there is one must be the same. */
function withoutLease(verdict: Verdict): Verdict {
  return verdict.outcome === 'admitted' && verdict.lease !== undefined ? { ...verdict, lease: 0 } : verdict;
}

class Story {
  readonly #engines: readonly SteeredEngine[];
  readonly #run = freshId();
  readonly #records: KeyRecord[] = [];
  /** Whose keys those from LONE_KEYS on are. */
  #customer: CustomerRecord = {
    ...{ id: freshCustomerId(), name: '', reference: '', note: '', status: 'enabled', createdAtMs: 0, version: 0 },
    ...{ plan: 'wave', limits: null },
  };
  /** The window that is open, by subject and name, and what it admitted so far. */
  readonly #open = new Map<string, { readonly resetAtMs: number; readonly admitted: number }>();
  readonly #counts = new Map<string, number>();
  readonly #last = new Map<string, StandingVerdict>();
  /** Admissions of keys that have not been settled. */
  readonly #holds: Hold[] = [];
  #nowMs = NOON_MS;
  #firstMs = NOON_MS;
  #lastMs = NOON_MS;
  verdicts = 0;
  events = 0;

  constructor(engines: readonly SteeredEngine[]) {
    this.#engines = engines;
  }

  async begin(initial: readonly Partial<KeyRecord>[]): Promise<void> {
    this.#setPlans(0);
    const records = initial.map((changes, who) =>
      keyRecord(who < LONE_KEYS ? `${this.#run}${who}` : `${this.#customer.id}key00${who}`, {
        plan: 'wave',
        // fast-check makes objects without a prototype, which no store gives back.
        ...structuredClone(who < LONE_KEYS ? changes : withoutTerms(changes)),
      }),
    );
    this.#records.push(...records);
    await this.#changeCustomer(termsIn(initial[LONE_KEYS] ?? {}));
    await this.#all((engine) =>
      Promise.all(records.map((record) => engine.keys.write(record, { atMs: 0, action: 'created', changed: {} }))),
    );
  }

  async play(event: Event): Promise<void> {
    switch (event.kind) {
      case 'admit':
        return this.#admit(event.requests);
      case 'jump':
        this.#jump(event);
        return;
      case 'change':
        return this.#change(event.who, event.changes);
      case 'customer':
        return this.#changeCustomer({ status: event.status });
      case 'plans':
        this.#setPlans(event.edition);
        return;
      case 'ban':
        return this.#ban(event.who, { untilMs: this.#nowMs + event.forMs, note: null });
      case 'lift':
        return this.#ban(event.who, null);
      case 'sweep':
        return this.#all((engine) => engine.sweep?.(this.#nowMs) ?? Promise.resolve());
      case 'settle':
        return this.#settle(event);
      case 'fail':
        return this.#all((engine) =>
          engine.settle(
            reportsOf([
              {
                keyId: this.#idOf(event.who),
                plan: 'wave',
                operation: LIST,
                admittedAtMs: this.#nowMs - event.backMs,
                isFailed: true,
              },
            ]),
          ),
        );
    }
  }

  async end(): Promise<void> {
    await this.#told();
    for (const { id } of this.#records) {
      // A ban that is over in the story, and not yet by the real clock, may be forgotten.
      await this.#all(async (engine) =>
        [await engine.bans.read(id)].filter((ban) => ban !== undefined && ban.untilMs > this.#nowMs),
      );
      await this.#all((engine) => engine.keys.read(id));
      const rows = await this.#same((engine) =>
        rowsOf(engine, dayName(this.#firstMs - DAY_MS), dayName(this.#lastMs), id),
      );
      for (const outcome of ['requests', 'units', 'returned', 'limited', 'banned'] as const) {
        const counted = rows.reduce((sum, row) => sum + row[outcome], 0);
        assert.equal(counted, this.#counts.get(`${id} ${outcome}`) ?? 0, `ledger of ${outcome}`);
      }
    }
  }

  /** All engines told the same, under the same ids; then they forget it, so that the next story finds nothing. */
  async #told(): Promise<void> {
    const ours = [this.#run, this.#customer.id];
    const events = await this.#same(async (engine) => {
      const found = new Map<string, unknown>();
      for (const state of ['waiting', 'scheduled'] as const)
        for (const { event } of (await engine.outbox.list(state, null, MAX_TOLD)).entries) found.set(event.id, event);
      assert.ok(found.size < MAX_TOLD);
      for (const id of found.keys()) await engine.outbox.delivered(id);
      return [...found].filter(([id]) => ours.some((each) => id.startsWith(each))).sort(([a], [b]) => (a < b ? -1 : 1));
    });
    this.events += events.length;
  }

  async #admit(requests: readonly Request[]): Promise<void> {
    const batch = requests.map((request) => this.#requestOf(request));
    const leases: (readonly (number | undefined)[])[] = [];
    const verdicts = await this.#same(async (engine) => {
      const its = await engine.admit(batch);
      leases[this.#engines.indexOf(engine)] = its.map((verdict) => ('lease' in verdict ? verdict.lease : undefined));
      return its.map(withoutLease);
    });
    verdicts.forEach((verdict, n) => {
      this.#mark(batch[n]!, verdict);
      if (verdict.outcome === 'admitted' && verdict.cost > 0 && verdict.keyId !== null)
        this.#holds.push({ operation: batch[n]!.operation, verdict, leases: leases.map((its) => its[n]) });
    });
    this.verdicts += verdicts.length;
  }

  /** Never more comes back than was held. Windows that are still the same have that much more left. */
  async #settle({ which, units: asked, isTwice }: Extract<Event, { kind: 'settle' }>): Promise<void> {
    const [hold] = this.#holds.splice(which % Math.max(1, this.#holds.length), 1);
    if (hold === undefined) return;
    const { operation, verdict, leases } = hold;
    const { plan, cost, atMs } = verdict;
    const [keyId, units] = [verdict.keyId!, Math.max(asked, -cost)];
    const settlement = { units, windows: windowsOfHold(verdict) };
    const ended = { keyId, plan, operation, admittedAtMs: atMs, isFailed: false, settlement };
    const [report] = reportsOf([ended]);
    const settle = (engine: SteeredEngine): Promise<void> => {
      const lease = leases[this.#engines.indexOf(engine)];
      return engine.settle([{ ...report!, ended: [{ ...ended, lease }] }]);
    };
    for (let n = 0; n < (isTwice ? 2 : 1); n += 1) await this.#all(settle);
    const name = `${keyId} ${units > 0 ? 'units' : 'returned'}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + Math.abs(units));
    for (const { name: window, resetAtMs } of verdict.windows) {
      const open = this.#open.get(`${payerOf(keyId)} ${window}`);
      if (open?.resetAtMs !== resetAtMs) continue;
      this.#open.set(`${payerOf(keyId)} ${window}`, { resetAtMs, admitted: open.admitted + units });
    }
  }

  #jump({ who, to, byMs, onwardOnly }: Extract<Event, { kind: 'jump' }>): void {
    const last = this.#last.get(this.#nameOf(who));
    const beforeMs = this.#nowMs;
    if (last === undefined) return;
    if (to === 'minute' || to === 'day') this.#nowMs = windowOf(last, to).resetAtMs + byMs;
    else if (to === 'month') this.#nowMs = last.windows.findLast(({ per }) => per !== 'balance')!.resetAtMs + byMs;
    else if (to === 'memory')
      this.#nowMs = (last.outcome === 'banned' ? last.bannedUntilMs : last.atMs) + BAN_MEMORY_MS + byMs;
    else if (to === 'grant') {
      const { granted } = last.windows.find((window) => window.granted !== undefined) ?? {};
      if (granted !== undefined) this.#nowMs = granted.untilMs + byMs;
    } else if (last.outcome !== 'admitted') this.#nowMs = last.retryAtMs + byMs;
    if (onwardOnly === true) this.#nowMs = Math.max(beforeMs, this.#nowMs);
    // A greedy window that owes 100,000,000 units is full again after the last date there is, and a balance never.
    if (this.#nowMs > LAST_MS) this.#nowMs = beforeMs;
  }

  /** What must hold of every verdict, whatever the other engines say. */
  #mark(request: AdmissionRequest, verdict: Verdict): void {
    const { subject } = request;
    const name = subject.kind === 'key' ? subject.id : subject.address;
    if (verdict.outcome === 'unknown_key') return;
    this.#last.set(name, verdict);
    if (verdict.cost === 0) return;
    const outcome = verdict.outcome === 'admitted' ? 'requests' : verdict.outcome;
    const count = (what: string, more: number): void => {
      if (subject.kind === 'key')
        this.#counts.set(`${name} ${what}`, (this.#counts.get(`${name} ${what}`) ?? 0) + more);
    };
    count(outcome, 1);
    if (outcome === 'requests') count('units', verdict.cost);
    if (verdict.outcome === 'admitted') this.#bound(payerOf(name), verdict);
    else assert.ok(verdict.retryAtMs > verdict.atMs, 'a refusal promises a later moment');
  }

  #bound(name: string, verdict: StandingVerdict): void {
    const { windows, cost } = verdict;
    for (const { name: window, limit, resetAtMs, remaining } of windows) {
      if (
        limit === 'unlimited' ||
        EDITIONS.some((plans) =>
          [...plans.values()].some((plan) => plan.name === verdict.plan && plan.refill === 'greedy'),
        )
      )
        continue;
      const before = this.#open.get(`${name} ${window}`);
      // One that ends sooner than the last is the last, on a clock that stepped back.
      // Another than minute and day may have been forgotten when it was over, before the clock stepped back.
      const isForgotten =
        window !== 'minute' && window !== 'day' && before !== undefined && this.#lastMs >= before.resetAtMs;
      const isNew = before === undefined || before.resetAtMs < resetAtMs || isForgotten;
      const admitted = isNew ? cost : before.admitted + cost;
      this.#open.set(`${name} ${window}`, { resetAtMs, admitted });
      assert.ok(admitted <= limit, `${admitted} admitted in a ${window} of ${limit}`);
      assert.ok(remaining <= limit - admitted, 'remaining is never more than what is left');
    }
  }

  async #changeCustomer(changes: Partial<CustomerRecord>): Promise<void> {
    this.#customer = { ...this.#customer, ...changes, version: this.#customer.version + 1 };
    await this.#all((engine) => engine.customers.write(this.#customer, { atMs: 0, action: 'changed', changed: {} }));
  }

  async #ban(who: number, ban: KeyChange['ban']): Promise<void> {
    const before = this.#records[who]!;
    const record = { ...before, version: before.version + 1 };
    this.#records[who] = record;
    const entry = { atMs: 0, action: ban === null ? 'lifted' : 'banned', changed: {} } as const;
    await this.#all((engine) => engine.keys.write(record, entry, { ...NO_CHANGE, ban }));
  }

  async #change(who: number, asked: Partial<KeyRecord>): Promise<void> {
    if (who >= LONE_KEYS && Object.keys(termsIn(asked)).length > 0) return this.#changeCustomer(termsIn(asked));
    const changes = who < LONE_KEYS ? asked : withoutTerms(asked);
    const before = this.#records[who]!;
    const record = { ...before, ...structuredClone(changes), version: before.version + 1 };
    this.#records[who] = record;
    await this.#all((engine) => engine.keys.write(record, { atMs: 0, action: 'changed', changed: {} }));
  }

  #setPlans(edition: number): void {
    for (const engine of this.#engines) engine.setPlans(EDITIONS[edition]!);
  }

  #requestOf({ who, secret, operation, scope, cost, stepMs }: Request): AdmissionRequest {
    this.#nowMs += stepMs;
    this.#firstMs = Math.min(this.#firstMs, this.#nowMs);
    this.#lastMs = Math.max(this.#lastMs, this.#nowMs);
    const name = this.#nameOf(who);
    const subject: Subject =
      who < KEYS ? { kind: 'key', id: name, secretHash: secret } : { kind: 'address', address: name };
    return { subject, operation, scope, cost, nowMs: this.#nowMs };
  }

  #idOf(who: number): string {
    return this.#records[who]!.id;
  }

  #nameOf(who: number): string {
    return who < KEYS ? this.#idOf(who) : `${this.#run}:${SUBJECTS - who}`;
  }

  /** Asks all engines and wants one answer. */
  async #same<T>(ask: (engine: SteeredEngine) => Promise<T>): Promise<T> {
    const [first, ...others] = await Promise.all(this.#engines.map(ask));
    for (const other of others) assert.deepStrictEqual(other, first);
    return first!;
  }

  async #all(tell: (engine: SteeredEngine) => Promise<unknown>): Promise<void> {
    await this.#same(tell);
  }
}

/** What of a change of a key is the customer's, where it has one. */
function termsIn({ plan, limits, grants, credited }: Partial<KeyRecord>): Partial<CustomerRecord> {
  return {
    ...(grants === undefined ? {} : { grants: structuredClone(grants) }),
    ...(credited === undefined ? {} : { credited }),
    ...(plan === undefined ? {} : { plan }),
    ...(limits === undefined ? {} : { limits: structuredClone(limits) }),
  };
}

function withoutTerms(changes: Partial<KeyRecord>): Partial<KeyRecord> {
  const own = Object.entries(changes).filter(([field]) => field !== 'grants' && field !== 'credited');
  return { ...Object.fromEntries(own), plan: '', limits: null };
}
