import type { Limit, Per, Refill, WindowFigures } from '../../src/gateway/admission/bucket.js';
import type { BanRule, Plan } from '../../src/gateway/admission/plan.js';
import type { AdmissionRequest } from '../../src/gateway/admission/port.js';
import type { HeldFrom } from '../../src/gateway/admission/settlement.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import type { StandingVerdict } from '../../src/gateway/admission/verdict.js';

/**
 * The decision told a second time, from the promises and not from the source: whole numbers of any size, every window
 * in one list, months by the calendar of the language. Nothing here is fast, and nothing is shared with `decide()`.
 */
export interface ExactState {
  readonly windows: Map<string, Spent>;
  strikes: bigint;
  sinceMs: bigint;
  bannedUntilMs: bigint;
  banLevel: number;
  /** When each request in flight is given up, by when it was admitted. */
  readonly flights: Map<number, bigint>;
}
/** `drops`: one token is as many as the window has ms, so that `limit` of them trickle back each ms. */
interface Spent {
  drops: bigint;
  atMs: bigint;
}
/** A window that holds. The first two are minute and day. */
interface Rule {
  readonly name: string;
  readonly per: Per;
  readonly limit: Limit;
  readonly refill: Refill;
  /** When grants of the window end, also long ago: what each gave, and the limit after it. */
  readonly ends: readonly { readonly at: bigint; readonly units: bigint; readonly limit: Limit }[];
}

export type ExactPlan = Plan & { readonly prices?: Prices };
/** As in a plan file. */
export type Prices = Readonly<
  Record<string, { readonly cost?: number; readonly minute?: Limit; readonly day?: Limit; readonly month?: Limit }>
>;

const MOST = 100_000_000n;
const LENGTH: Readonly<Record<Per, bigint>> = { minute: 60_000n, day: 86_400_000n, month: 1n, balance: 1n };
/** What a bucket can show as spent at most. */
const mostOf = (per: Per): bigint => (per === 'balance' ? 1_000_000_000_000n : MOST * LENGTH[per]);
const NEVER = BigInt(Date.parse('9999-12-31T23:59:59Z'));
const DAY_MS = 86_400_000n;
const MONTH: Rule = { name: 'month', per: 'month', limit: 'unlimited', refill: 'interval', ends: [] };

export function freshExact(): ExactState {
  return { windows: new Map(), strikes: 0n, sinceMs: 0n, bannedUntilMs: 0n, banLevel: 0, flights: new Map() };
}

/** What a request costs on the plan. */
function priceOf(plan: ExactPlan, { operation, cost }: AdmissionRequest): number {
  return cost === 0 ? 0 : (plan.prices?.[operation]?.cost ?? cost);
}

/** Decides, and changes `state` when something is asked for. */
export function decideExactly(
  state: ExactState,
  plan: ExactPlan,
  record: KeyRecord | undefined,
  request: AdmissionRequest,
  nowMs: number,
  onCrossed: (crossing: ExactCrossing) => void = () => undefined,
): StandingVerdict {
  const cost = priceOf(plan, request);
  const now = BigInt(nowMs);
  const rules = rulesOf(plan, record, request.operation, now);
  const isPeek = cost === 0 || (now < state.bannedUntilMs && banEnd(state, plan.ban, now) === state.bannedUntilMs);
  const scratch: ExactState = isPeek ? structuredClone(state) : state;
  const spent = rules.map((rule) => settled(scratch, rule, now));
  const concurrency = concurrencyOf(plan, record);
  const ruling = rule(scratch, plan.ban, rules, spent, cost, now, concurrency);
  if (ruling === 'admitted' && record !== undefined)
    for (const [place, each] of rules.entries()) tellCrossed(plan, each, spent[place]!, cost, now, onCrossed);
  const { scope } = request;
  const windows = rules.map((each, place): WindowFigures => {
    const { name, per } = each;
    return { name, per, ...figuresOf(each, spent[place]!, now) };
  });
  const standing = {
    keyId: record?.id ?? null,
    recordVersion: record?.version ?? null,
    plan: plan.name,
    windows,
    cost,
    atMs: nowMs,
    ...shownAs(concurrency),
    inScope: scope === null || record === undefined || record.scopes === null || record.scopes.includes(scope),
  };
  if (plan.prices !== undefined) forgetOver(scratch, now);
  if (ruling === 'admitted') return { outcome: 'admitted', ...standing, ...leaseOf(concurrency, cost) };
  if (ruling === 'crowded')
    return { outcome: 'limited', ...standing, violated: 'concurrency', retryAtMs: nowMs + 1_000, exceeds: false };
  const empty = rules.flatMap((each, place) => (holds(each, spent[place]!, cost) ? [] : [place]));
  const fromMs = ruling === 'limited' ? now : scratch.bannedUntilMs;
  const { at, late } = whenAllHold(rules, spent, cost, now, fromMs);
  const retryAtMs = Number(at);
  if (ruling === 'limited') {
    const about = rules.flatMap((_, place) => (empty.includes(place) || late.has(place) ? [place] : []));
    const last = Math.max(...about.map((place) => windows[place]!.resetAtMs));
    const violated = rules[about.findLast((place) => windows[place]!.resetAtMs === last)!]!.name;
    return { outcome: 'limited', ...standing, violated, retryAtMs, exceeds: exceeds(rules, spent, cost) };
  }
  const bannedUntilMs = Number(scratch.bannedUntilMs);
  return {
    outcome: 'banned',
    ...standing,
    bannedUntilMs,
    level: scratch.banLevel,
    started: ruling === 'ban_started',
    retryAtMs,
  };
}

/** A share of a limit that was crossed just now. */
export interface ExactCrossing {
  readonly window: 'day' | 'month' | 'balance';
  readonly startDay: number;
  readonly threshold: number;
  readonly limit: number;
  readonly used: number;
}

function tellCrossed(
  { warnAt = [50, 80, 100] }: ExactPlan,
  { name, per, limit }: Rule,
  { drops }: Spent,
  cost: number,
  now: bigint,
  onCrossed: (crossing: ExactCrossing) => void,
): void {
  if ((name !== 'day' && name !== 'month' && name !== 'balance') || limit === 'unlimited') return;
  for (const threshold of warnAt) {
    // A unit is used as soon as a part of it is.
    const share = upTo(BigInt(threshold) * BigInt(limit), 100n);
    const used = upTo(drops, LENGTH[per]);
    if (used < share || used - BigInt(cost) >= share) continue;
    const startDay = Number(startOf(name, now) / DAY_MS);
    onCrossed({ window: name, startDay, threshold, limit, used: Number(used) });
  }
}

function rulesOf(plan: ExactPlan, record: KeyRecord | undefined, operation: string, now: bigint): readonly Rule[] {
  const limits = plan.limits === 'custom' ? record!.limits! : plan.limits;
  const { refill } = plan;
  const whole = (per: Per, limit: Limit, its: Refill): Rule => {
    const grants = (record?.grants ?? [])
      .filter(({ window }) => window === per && limit !== 'unlimited')
      .map(({ units, untilMs }) => ({ units: BigInt(units), at: BigInt(untilMs) }))
      .sort((a, b) => Number(a.at - b.at));
    const limitAt = (moment: bigint): Limit => {
      if (limit === 'unlimited') return limit;
      let sum = BigInt(limit);
      for (const { units, at } of grants) if (moment < at) sum += units;
      return Number(sum < MOST || per === 'balance' ? sum : MOST);
    };
    const ends = grants.map(({ units, at }) => ({ at, units, limit: limitAt(at) }));
    return { name: per, per, limit: limitAt(now), refill: its, ends };
  };
  const rules: Rule[] = [whole('minute', limits.minute, refill), whole('day', limits.day, refill)];
  if (limits.month !== undefined) rules.push(whole('month', limits.month, 'interval'));
  for (const [name, prices] of Object.entries(plan.prices ?? {})) {
    if (operation !== '*' && operation !== name) continue;
    for (const per of ['minute', 'day', 'month'] as const) {
      const limit = prices[per];
      if (limit !== undefined)
        rules.push({ name: `${name}-${per}`, per, limit, refill: per === 'month' ? 'interval' : refill, ends: [] });
    }
  }
  if (plan.isPrepaid === true) rules.push(whole('balance', record?.credited ?? 0, 'interval'));
  return rules;
}

/** What is spent of a window now. */
function settled(state: ExactState, { name, per, limit, refill, ends }: Rule, now: bigint): Spent {
  let spent = state.windows.get(name);
  if (spent === undefined) state.windows.set(name, (spent = { drops: 0n, atMs: 0n }));
  if (name !== per && per !== 'month' && now - spent.atMs >= LENGTH[per]) spent.drops = 0n;
  if (refill === 'greedy' && limit !== 'unlimited') {
    let back = now > spent.atMs ? BigInt(limit) * (now - spent.atMs) : 0n;
    for (const { at, units } of ends) if (spent.atMs < at && at <= now) back += units * (at - spent.atMs);
    spent.drops = back >= spent.drops ? 0n : spent.drops - back;
    spent.atMs = now;
    return spent;
  }
  const start = startOf(per, now);
  if (per === 'minute' ? now - spent.atMs >= LENGTH.minute : spent.atMs < start) spent.drops = 0n;
  if (spent.drops === 0n || spent.atMs > now) spent.atMs = start;
  return spent;
}

function startOf(per: Per, at: bigint): bigint {
  if (per === 'minute') return at;
  if (per === 'balance') return 0n;
  if (per === 'day') return at - (at % DAY_MS);
  const date = new Date(Number(at));
  return BigInt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth()));
}

function endOf(per: Per, { drops, atMs }: Spent): bigint {
  if (per === 'balance') return NEVER;
  if (per === 'minute') return drops === 0n ? atMs : atMs + LENGTH.minute;
  if (per === 'day') return atMs - (atMs % DAY_MS) + DAY_MS;
  const date = new Date(Number(atMs));
  return BigInt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1));
}

/** Of windows beside minute and day nothing is remembered once they are over. */
function forgetOver(state: ExactState, now: bigint): void {
  for (const [name, { atMs }] of state.windows) {
    const per = name.split('-').at(-1) as Per;
    if (name === 'minute' || name === 'day' || name === 'balance') continue;
    if (per === 'month' ? atMs < startOf('month', now) : now - atMs >= LENGTH[per]) state.windows.delete(name);
  }
}

function holds({ per, limit }: Rule, { drops }: Spent, cost: number): boolean {
  return limit === 'unlimited' || drops + BigInt(Math.max(1, cost)) * LENGTH[per] <= BigInt(limit) * LENGTH[per];
}

/** The first moment from `from` on at which `cost` can be had of all windows, and the windows that put it off. */
function whenAllHold(
  rules: readonly Rule[],
  spent: readonly Spent[],
  cost: number,
  now: bigint,
  from: bigint,
): { readonly at: bigint; readonly late: ReadonlySet<number> } {
  const late = new Set<number>();
  let at = from;
  for (let before = -1n; before !== at;) {
    before = at;
    for (const [place, rule] of rules.entries()) {
      const held = whenHeld(rule, spent[place]!, cost, now, at);
      // Those that were looked at before may not hold any more by then.
      if (held > at) late.add(place);
      at = held;
    }
  }
  return { at, late };
}

function whenHeld(rule: Rule, spent: Spent, cost: number, now: bigint, from: bigint): bigint {
  const { per, limit, refill } = rule;
  if (limit === 'unlimited') return from;
  const tokens = BigInt(Math.max(1, cost));
  return firstOf(rule, now, from, (its, back) => {
    const missing = spent.drops + (tokens - its) * LENGTH[per];
    if (missing <= 0n) return from;
    if (refill === 'interval') return per === 'minute' ? spent.atMs + LENGTH.minute : endOf(per, spent);
    return missing <= back ? from : spent.atMs + upTo(missing - back, its);
  });
}

/**
 * The first moment from `from` on for which `comes` of its limit has come, when that limit holds a second later too.
 */
function firstOf(rule: Rule, now: bigint, from: bigint, comes: (limit: bigint, back: bigint) => bigint): bigint {
  let [limit, since, back] = [BigInt(rule.limit), from, 0n];
  for (const end of rule.ends.filter(({ at }) => at > now)) {
    const come = comes(limit, back);
    const moment = come > since ? come : since;
    if (moment + 1_000n <= end.at) return moment;
    [limit, back] = [BigInt(end.limit), back + end.units * (end.at - now)];
    if (end.at > since) since = end.at;
  }
  const come = comes(limit, back);
  return come > since ? come : since;
}

type Figures = Omit<WindowFigures, 'name' | 'per'>;

function figuresOf(rule: Rule, spent: Spent, now: bigint): Figures {
  const { limit } = rule;
  const ends = rule.ends.filter(({ at }) => at > now);
  const end = ends.find((each) => each.limit !== limit);
  const figures = plainFigures(rule, spent);
  if (end === undefined) return figures;
  return { ...figures, granted: { units: Number(limit) - Number(ends.at(-1)!.limit), untilMs: Number(end.at) } };
}

function plainFigures(rule: Rule, spent: Spent): Figures {
  const { per, limit, refill } = rule;
  if (limit === 'unlimited') return { limit, remaining: Number.MAX_SAFE_INTEGER, resetAtMs: Number(endOf(per, spent)) };
  const left = BigInt(limit) * LENGTH[per] - spent.drops;
  const remaining = left < 0n ? 0n : left / LENGTH[per];
  if (refill === 'interval') return { limit, remaining: Number(remaining), resetAtMs: Number(endOf(per, spent)) };
  const comesBack = (missing: bigint, its: bigint, back: bigint): bigint =>
    missing <= back ? spent.atMs : spent.atMs + upTo(missing - back, its);
  const resetAtMs = firstOf(rule, spent.atMs, spent.atMs, (its, back) => comesBack(spent.drops, its, back));
  const nextAtMs = firstOf(rule, spent.atMs, spent.atMs, (its, back) =>
    comesBack(remaining >= its ? spent.drops : spent.drops - (its - remaining - 1n) * LENGTH[per], its, back),
  );
  return { limit, remaining: Number(remaining), resetAtMs: Number(resetAtMs), nextAtMs: Number(nextAtMs) };
}

/**
 * A hold of `cost` at `atMs` turned out to cost `units` more, or less. What a greedy window has got back since cannot
 * come back again; of another window, only the one that the hold was taken from changes.
 */
export function settleExactly(state: ExactState, windows: readonly HeldFrom[], units: number): void {
  for (const { name, per, sinceMs, refill } of windows) {
    const spent = state.windows.get(name);
    const [since, more, most] = [BigInt(sinceMs), BigInt(units) * LENGTH[per], mostOf(per)];
    if (spent === undefined || spent.drops === 0n) {
      if (refill > 0 && more > 0n) state.windows.set(name, { drops: more < most ? more : most, atMs: since });
      continue;
    }
    if (refill === 0 && since !== startOf(per, spent.atMs)) continue;
    if (more > 0n) spent.drops = spent.drops + more < most ? spent.drops + more : most;
    else if (spent.drops < most) {
      const passed = spent.atMs > since ? spent.atMs - since : 0n;
      const back = -more - BigInt(refill) * passed;
      if (back > 0n) spent.drops = back < spent.drops ? spent.drops - back : 0n;
    }
  }
}

/** Division that rounds up. */
function upTo(value: bigint, by: bigint): bigint {
  return value <= 0n ? value / by : (value + by - 1n) / by;
}

/** How many may be in flight; undefined for any number. */
function concurrencyOf(plan: ExactPlan, record: KeyRecord | undefined): number | undefined {
  return (plan.limits === 'custom' ? record?.limits?.concurrency : undefined) ?? plan.concurrency;
}

function shownAs(concurrency: number | undefined): Pick<StandingVerdict, 'concurrency'> {
  return concurrency === undefined ? {} : { concurrency };
}

/** What the request that was admitted just now has to give back. */
function leaseOf(concurrency: number | undefined, cost: number): { readonly lease?: number } {
  return concurrency === undefined || cost === 0 ? {} : { lease: flight };
}

/** The number of the last request that was admitted under such a plan. */
let flight = 0;

function rule(
  state: ExactState,
  ban: BanRule,
  rules: readonly Rule[],
  spent: readonly Spent[],
  cost: number,
  now: bigint,
  concurrency: number | undefined,
): 'admitted' | 'limited' | 'crowded' | 'banned' | 'ban_started' {
  // A month is counted whether the plan has one or not.
  const month = settled(state, MONTH, now);
  if (now < state.bannedUntilMs) {
    state.bannedUntilMs = banEnd(state, ban, now);
    return 'banned';
  }
  if (rules.every((each, place) => holds(each, spent[place]!, cost))) {
    if (cost > 0 && concurrency !== undefined) {
      const ended = [...state.flights].flatMap(([id, end]) => (end <= now ? id : []));
      if (state.flights.size - ended.length >= concurrency) return 'crowded';
      for (const id of ended) state.flights.delete(id);
      state.flights.set((flight += 1), now + 60_000n);
    }
    rules.forEach(({ per }, place) => spend(spent[place]!, per, cost));
    if (!spent.includes(month)) spend(month, 'month', cost);
    return 'admitted';
  }
  return cost > 0 && !exceeds(rules, spent, cost) && strike(state, ban, now) ? 'ban_started' : 'limited';
}

/** Whether waiting does not help. */
function exceeds(rules: readonly Rule[], spent: readonly Spent[], cost: number): boolean {
  return rules.some((each, place) => {
    if (each.limit === 'unlimited') return false;
    return Math.max(1, cost) > each.limit || (each.per === 'balance' && !holds(each, spent[place]!, cost));
  });
}

function spend(spent: Spent, per: Per, cost: number): void {
  const drops = spent.drops + BigInt(cost) * LENGTH[per];
  spent.drops = drops < mostOf(per) ? drops : mostOf(per);
}

function strike(state: ExactState, ban: BanRule, now: bigint): boolean {
  if (state.strikes === 0n || now - state.sinceMs >= BigInt(ban.withinMs)) {
    state.strikes = 0n;
    state.sinceMs = now;
  }
  if (state.sinceMs > now) state.sinceMs = now;
  state.strikes += 1n;
  if (state.strikes < BigInt(ban.after)) return false;
  const isNext = state.banLevel > 0 && now - state.bannedUntilMs < DAY_MS;
  state.banLevel = isNext ? state.banLevel + 1 : 1;
  state.bannedUntilMs = now + banLength(ban, state.banLevel);
  state.strikes = 0n;
  return true;
}

function banEnd(state: ExactState, ban: BanRule, now: bigint): bigint {
  if (state.sinceMs === 0n) return state.bannedUntilMs;
  const most = now + banLength(ban, state.banLevel);
  return most < state.bannedUntilMs ? most : state.bannedUntilMs;
}

function banLength({ forMs, factor, capMs }: BanRule, level: number): bigint {
  let ms = forMs;
  for (let step = 1; step < level && ms < capMs; step += 1) ms = Math.floor(ms * factor);
  return BigInt(Math.min(ms, capMs));
}
