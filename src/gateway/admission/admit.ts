import { CATALOGUE } from '../refusals/catalogue.js';
import { asksForLogin, challengesOf, worded, type CredentialLocations } from '../refusals/credential-location.js';
import { toAdmitted } from '../exchange.js';
import type { Admitted, Credential, Identified, ExchangeLog, Slot, RouteRequirements } from '../exchange.js';
import { isRefusal, limitReached, REFUSALS, withHeaders, withMessage, type Refusal } from '../refusal.js';
import type { Admission } from './batch.js';
import { Challenges } from './challenges.js';
import { StoreUnavailable, type AdmissionRequest, type Late } from './port.js';
import type { StandingVerdict, Verdict } from './verdict.js';

/** Called with every verdict that charged a request or refused it. */
export type OnVerdict = (verdict: StandingVerdict, operation: string) => void;

/** Reserves a slot at the upstream until the request is admitted or refused; `shed`s the request if none is free. */
type Reserve = (exchange: Identified) => Slot | null | Promise<Slot | null>;

/** What a 401 says about where to send keys. */
interface Challenge {
  readonly realm: string;
  readonly credentials: CredentialLocations;
}

const NO_SCHEME = 'The Authorization field lacks its scheme. Send it as "Authorization: Bearer <API_KEY>".';
const UNKNOWN_SCHEME =
  'The scheme in the Authorization field is not accepted here. Send the key as "Authorization: Bearer <API_KEY>".';
const OTHER_ENVIRONMENT = 'The API key belongs to another environment. Use a key created in the environment you call.';

/** The operation of OPTIONS requests, which no contract contains. */
const OPTIONS: Admitted['operation'] = {
  id: 'options',
  method: 'OPTIONS',
  path: '*',
  upstream: 'gateway',
  cost: 0,
  metered: null,
  secured: false,
  scope: null,
  hasBody: false,
  stability: null,
  websocket: false,
  deadlineMs: null,
  bodyBytes: null,
  stream: null,
  sunsetAtMs: null,
  headers: [],
  tags: [],
  summary: '',
  parameters: [],
};

/**
 * Fifth step, the gate: asks the store, returns the admitted exchange or the refusal. Without a valid key, the address
 * pays: one unit for a 401, the cost of a public operation. Only admitted clients see a 404 or another routing error.
 */
export function createAdmit(
  admission: Admission,
  challenge: Challenge,
  onVerdict: OnVerdict,
  reserve: Reserve,
): (exchange: Identified) => Promise<Admitted | Refusal> {
  const unauthorized = unauthorizedBy(challenge);

  const admitAddress = async (exchange: Identified, slot: Slot | null): Promise<Admitted | Refusal> => {
    const { requirements, credential, logEntry } = exchange;
    const cost = requirements.secured ? 1 : requirements.cost;
    const verdict = note(logEntry, await admission.admit(requestOf(exchange, cost)), onVerdict);
    if (!requirements.secured && verdict.outcome !== 'unknown_key') return pass(exchange, verdict, onVerdict, slot);
    if (verdict.outcome === 'limited') return limitReached(verdict.violated);
    if (verdict.outcome === 'banned') return REFUSALS.address_banned;
    return unauthorized[credential];
  };

  const challenges = challenge.credentials.some(asksForLogin) ? new Challenges() : null;

  /** Costs the address nothing, whatever it has left: its client sends the key only after a challenge. */
  const challengeFor = async (exchange: Identified, free: Challenges): Promise<Refusal> => {
    const { logEntry } = exchange;
    logEntry.credential = exchange.credential;
    const mayStay = await free.take(exchange.addressBucket);
    try {
      note(logEntry, await admission.admit(requestOf(exchange, 0)), onVerdict);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    return mayStay ? unauthorized.missing : { ...unauthorized.missing, closes: true };
  };

  return async (exchange) => {
    if (challenges !== null && exchange.credential === 'missing' && exchange.requirements.secured)
      return challengeFor(exchange, challenges);
    const requestedMs = performance.now();
    const held = reserve(exchange);
    const slot = held instanceof Promise ? await held : held;
    const { requirements, subject, logEntry } = exchange;
    let end: Admitted | Refusal | null = null;
    try {
      // Only one await for a valid key: each costs more than the decision around it.
      if (subject.kind === 'key' && requirements.isPreflight !== true) {
        const { reportsAs: operation, scope, cost } = requirements;
        const verdict = note(logEntry, await admission.admit({ subject, operation, scope, cost }), onVerdict);
        if (verdict.outcome !== 'unknown_key') return (end = pass(exchange, verdict, onVerdict, slot));
        // The key is valid: neither its holder nor anyone else at this address did anything wrong.
        if (verdict.reason === 'no_plan' && requirements.secured) {
          logEntry.keyId = subject.id;
          return REFUSALS.plan_unavailable;
        }
      } else {
        logEntry.credential = requirements.isPreflight === true ? null : exchange.credential;
      }
      return (end = await admitAddress(exchange, slot));
    } catch (error) {
      if (error instanceof StoreUnavailable) return undecided(exchange, error, onVerdict);
      throw error;
    } finally {
      if (slot !== null && (end === null || isRefusal(end))) slot.free();
      logEntry.admissionMs = performance.now() - requestedMs;
    }
  };
}

/** Returns what an exchange asks for its address. */
function requestOf(
  { addressBucket: address, requirements: { operation } }: Identified,
  cost: number,
): AdmissionRequest {
  return { subject: { kind: 'address', address }, operation, scope: null, cost };
}

/** Returns the 401 for a caller without a valid key, by what was wrong with it. */
function unauthorizedBy({ realm, credentials }: Challenge): Readonly<Record<Credential, Refusal>> {
  const because = (
    code: 'missing_api_key' | 'invalid_api_key',
    error = '',
    message = CATALOGUE[code].message,
  ): Refusal =>
    withHeaders(
      withMessage(REFUSALS[code], worded(message, credentials)),
      'WWW-Authenticate',
      challengesOf(credentials, realm, error),
    );
  const invalid = (message?: string): Refusal => because('invalid_api_key', ', error="invalid_token"', message);
  return {
    missing: because('missing_api_key'),
    key: invalid(),
    malformed: invalid(),
    no_scheme: invalid(NO_SCHEME),
    unknown_scheme: invalid(UNKNOWN_SCHEME),
    other_environment: invalid(OTHER_ENVIRONMENT),
  };
}

/** Records what the store said. */
function note(logEntry: ExchangeLog, verdict: Verdict, onVerdict: OnVerdict): Verdict {
  logEntry.decidedMs = performance.now();
  if (verdict.outcome === 'unknown_key') {
    logEntry.credential = verdict.reason;
    return verdict;
  }
  logEntry.verdict = verdict;
  if (verdict.cost > 0) {
    logEntry.counted = verdict.outcome === 'admitted' && verdict.keyId !== null;
    onVerdict(verdict, logEntry.operation);
  }
  return verdict;
}

/** Returns the refusal for an exchange that the store did not decide in time. */
function undecided(
  { requirements, subject, logEntry }: Identified,
  { late: [late] }: StoreUnavailable,
  onVerdict: OnVerdict,
): Refusal {
  logEntry.verdict = null;
  // An address that pays for an invalid key has no ledger.
  if (late !== undefined && subject.kind === 'key' && logEntry.credential === null && requirements.cost > 0) {
    logEntry.keyId = subject.id;
    logEntry.late = noteLate(logEntry, late, onVerdict);
  }
  return requirements.refusal !== null && requirements.cost === 0 ? requirements.refusal : REFUSALS.store_unavailable;
}

/** Records the outcome of an abandoned admission: its client got a 503, but the ledger may have counted it. */
async function noteLate(logEntry: ExchangeLog, awaited: Promise<Late>, onVerdict: OnVerdict): Promise<void> {
  const late = await awaited;
  if (late === 'unknown') logEntry.counted = null;
  else if (late !== 'undone') note(logEntry, late, onVerdict);
}

/** Returns the outcome for a known subject: a ban refuses first, then limits, then scopes. */
function pass(
  exchange: Identified,
  verdict: StandingVerdict,
  onVerdict: OnVerdict,
  slot: Slot | null,
): Admitted | Refusal {
  const { requirements, logEntry } = exchange;
  const { match, operation } = requirements;
  if (verdict.outcome === 'banned' && (verdict.cost > 0 || hasUpstream(match))) {
    if (verdict.cost === 0) {
      // It waits for the end of the ban, not for a bucket.
      logEntry.verdict = { ...verdict, retryAtMs: verdict.bannedUntilMs };
      onVerdict(verdict, operation);
    }
    return verdict.keyId === null ? REFUSALS.address_banned : REFUSALS.key_banned;
  }
  if (verdict.outcome === 'limited' && verdict.cost > 0)
    return verdict.exceeds && verdict.violated !== 'balance'
      ? REFUSALS.cost_exceeds_limit
      : limitReached(verdict.violated);
  if (!verdict.inScope) return REFUSALS.insufficient_scope;
  if (requirements.refusal !== null) return requirements.refusal;
  return toAdmitted(exchange, match?.kind === 'operation' ? match.operation : OPTIONS, verdict, slot);
}

/** The gateway's own operations (usage, docs) stay open during a ban. */
function hasUpstream(match: RouteRequirements['match']): boolean {
  return match?.kind === 'operation' && match.operation.upstream !== 'gateway';
}
