import type { Log } from '../../shared/log.js';
import { StoreUnavailable } from '../admission/port.js';
import type { Certificate } from './certificate.js';
import { loadInTurns, type Sources } from './load.js';
import { ConfigError, type Problem } from './files/problem.js';
import type { Settings } from './schema/gateway.js';
import { watchUnserved } from './unserved.js';
import { watchFiles } from './watch.js';

/** The state of the latest reload. */
export interface ReloadState {
  /** False while the files contain an error; the previous settings, or certificate, stay in force. */
  readonly ok: boolean;
  readonly detail: string;
  readonly loaded: number;
  readonly refused: number;
  /** When the settings in force were applied, Unix ms. */
  readonly sinceMs: number;
}

export type Reloader = ReturnType<typeof createReloader>;

/** What only a restart can change, in addition to what `waitingFor` names. */
const FIXED = [
  'listen',
  'admin',
  'workers',
  'data',
  'environment',
  'store',
  'keys',
  'events',
  'metrics',
] as const satisfies readonly (keyof Settings)[];

/** Names of settings that differ in `next` but only a restart can change. */
function waitingFor(next: Settings, first: Settings): readonly string[] {
  return [
    ...FIXED.filter((name) => JSON.stringify(first[name]) !== JSON.stringify(next[name])),
    // Whether TLS is used at all; its files may change.
    ...((first.tls === undefined) === (next.tls === undefined) ? [] : ['tls']),
    ...((first.tls?.http2 ?? true) === (next.tls?.http2 ?? true) ? [] : ['tls.http2']),
    ...(first.limits.header_size === next.limits.header_size ? [] : ['limits.header_size']),
  ];
}

/** Returns `next`, with the settings that only a restart can change as they were at the start. */
function withFixed(next: Settings, first: Settings): Settings {
  const fixed = Object.fromEntries(FIXED.map((name) => [name, first[name]])) as Pick<Settings, (typeof FIXED)[number]>;
  const tls = first.tls && { ...(next.tls ?? first.tls), http2: first.tls.http2 };
  return { ...next, ...fixed, tls, limits: { ...next.limits, header_size: first.limits.header_size } };
}

interface ReloadSteps {
  /**
   * Reads the contract and returns all files that were read. Throws ConfigError for what contradicts contract or store,
   * StoreUnavailable if the store cannot be asked, Unsettled for a contract that may be incomplete.
   */
  readonly check: (sources: Sources, inForce: Settings) => Promise<readonly string[]>;
  /** Whether the plans of `next` may reduce what a key has. */
  readonly narrows: (next: Settings, inForce: Settings) => boolean;
  /** Keys that the plans of `sources` do not serve. Rejects with StoreUnavailable. */
  readonly unserved: (sources: Sources) => Promise<readonly Problem[]>;
  /** Applies checked settings; resolves once they are in force in every process, in the order of the calls. */
  readonly apply: (settings: Settings, certificate: Certificate | null) => Promise<void>;
}

const ASK_AGAIN_MS = 1_000;

/** The files may still be in the process of being written: read them again. */
export class Unsettled extends Error {
  readonly waitMs: number;

  constructor(waitMs: number) {
    super('the contract has fewer operations or scopes than before, and was changed less than a second ago');
    this.waitMs = waitMs;
  }
}

/**
 * Applies the files again after each change and at each `reload()`. Invalid files change only the log and the state; an
 * invalid certificate does not prevent the rest from being applied.
 * @param first what the process started with
 */
export function createReloader(
  environment: NodeJS.ProcessEnv,
  first: Sources,
  log: Log,
  { check, narrows, unserved, apply }: ReloadSteps,
) {
  let { settings: current, certificate, files } = first;
  let inForce = first;
  let state: ReloadState = { ok: true, detail: 'as the files say', loaded: 0, refused: 0, sinceMs: Date.now() };
  const served = watchUnserved(() => unserved(inForce), log);
  let [turn, again]: [Promise<void>, NodeJS.Timeout | undefined] = [Promise.resolve(), undefined];

  const take = async (): Promise<void> => {
    const sources = await loadInTurns(environment, 'wanted');
    files = await check(sources, current);
    const waiting = waitingFor(sources.settings, first.settings);
    inForce = sources;
    served.recheck(narrows(sources.settings, current));
    current = withFixed(sources.settings, first.settings);
    // Whether TLS is used was decided at the start.
    if (first.settings.tls !== undefined) certificate = sources.certificate ?? certificate;
    const { certificateFault: fault } = sources;
    const tls = certificate === null ? {} : { tls: certificate.summary() };
    state = { ...state, ok: fault === null, detail: detailOf(fault, waiting) };
    void apply(current, certificate).then(() => {
      state = { ...state, loaded: state.loaded + 1, sinceMs: Date.now() };
      logApplied(log, fault, waiting, tls);
    });
  };
  const refuse = (error: unknown): void => {
    if (error instanceof Unsettled) {
      log.info(
        { reason: error.message },
        'the changed files are read again when they have been unchanged for a second',
      );
      state = { ...state, ok: false, detail: `the changed files are read again in a second: ${error.message}` };
      again = setTimeout(() => void reload(), error.waitMs).unref();
      return;
    }
    if (error instanceof StoreUnavailable) {
      const detail = `the changed files wait until the store has been asked about the plans: ${error.message}`;
      if (state.detail !== detail) log.warn({ reason: error.message }, 'the changed settings wait for the store');
      state = { ...state, ok: false, detail };
      again = setTimeout(() => void reload(), ASK_AGAIN_MS).unref();
      return;
    }
    if (!(error instanceof ConfigError)) throw error;
    // A newly named file that was refused may be the next one to be corrected.
    files = [...new Set([...files, ...error.files])];
    const detail = `the changed files were refused; the previous settings stay in force: ${error.message}`;
    state = { ...state, ok: false, detail, refused: state.refused + 1 };
    log.error(
      { problems: error.message.split('\n') },
      'the changed settings were refused; the previous ones stay in force',
    );
  };
  // One after the other, so that the latest files are in force in the end.
  const reload = (): Promise<void> => {
    clearTimeout(again);
    turn = turn.then(() => take().catch(refuse));
    return turn;
  };
  const watching = watchFiles(() => files, reload);
  return {
    settings: (): Settings => current,
    state: (): ReloadState => {
      const missing = served.detail();
      return missing === null ? state : { ...state, ok: false, detail: `${missing}; ${state.detail}` };
    },
    /** Reads everything again, now. Resolves when it is in force here or was refused. */
    reload,
    close: (): void => {
      clearTimeout(again);
      watching.close();
      served.stop();
    },
  };
}

function detailOf(fault: ConfigError | null, waiting: readonly string[]): string {
  const details = [
    ...(fault === null ? [] : [`the certificate was refused, the previous one stays in force: ${fault.message}`]),
    ...(waiting.length === 0 ? [] : [`takes effect after a restart: ${waiting.join(', ')}`]),
  ];
  return details.join('; ') || 'as the files say';
}

function logApplied(log: Log, fault: ConfigError | null, waiting: readonly string[], tls: object): void {
  if (fault !== null)
    log.error(
      { ...tls, problems: fault.message.split('\n'), waiting },
      'the certificate was refused, the previous one stays in force; all other settings were reloaded',
    );
  else if (waiting.length > 0)
    log.warn({ ...tls, waiting }, 'settings reloaded; some of them take effect only after a restart');
  else log.info(tls, 'settings reloaded');
}
