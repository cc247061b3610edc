import type { AdmissionEngine } from '../store/port.js';
import type { ReloadState } from '../config/reload.js';
import { isDown } from '../upstream/addresses/address.js';
import type { Upstreams } from '../upstream/pools.js';
import { repeat } from '../../shared/turns/repeat.js';

interface Part {
  readonly ok: boolean;
  readonly degraded?: true;
  readonly detail?: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly parts: Readonly<Record<string, Part>>;
}

export type Health = ReturnType<typeof watchHealth>;

const CHECK_MS = 1000;

/**
 * Checks the store with a real admission, because a successful PING proves nothing about the script. An upstream that
 * is down does not make the gateway unready: a 503 is better than no response. Nor does an archive that lacks days.
 * @param archive what is wrong with it; null if nothing is, undefined if there is none
 */
export function watchHealth(
  engine: AdmissionEngine,
  upstreams: () => Upstreams,
  config: () => ReloadState,
  archive: () => string | null | undefined,
) {
  let storeOk = false;
  let storeDetail = 'not checked yet';
  /** True once a check found that the store keeps its data: if it evicts later, the gateway stays ready. */
  let keepsData = false;
  /** The gateway started without Redis and decides by itself; it stays ready until Redis has been checked. */
  let beganAlone = false;
  let serving = false;
  let draining = false;

  const evicts = (): string | null | undefined => (engine.trust === undefined ? null : engine.trust.evicts());
  const store = (): Part => {
    if (!storeOk) return { ok: false, detail: `${engine.name}: ${storeDetail}` };
    const [reason, decided] = [evicts(), decides(engine)];
    if (reason === null) return decided;
    if (reason === undefined)
      return decided.degraded === true || beganAlone ? decided : { ok: false, detail: 'not checked yet' };
    const detail = `${engine.name} may drop data: ${reason}`;
    return keepsData ? { ...decided, degraded: true, detail } : { ok: false, detail };
  };
  const check = async (): Promise<void> => {
    try {
      // A single late response proves nothing, and a load balancer would remove the gateway.
      await engine.check().catch(() => engine.check());
      storeOk = true;
      const reason = evicts();
      if (reason === null) keepsData = true;
      if (reason === undefined) beganAlone = decides(engine).ok;
    } catch (error) {
      storeOk = false;
      storeDetail = error instanceof Error ? error.message : 'the store does not respond';
    }
  };
  const stop = repeat(CHECK_MS, check, () => undefined);

  return {
    readiness: (): Readiness => {
      const parts: Record<string, Part> = {
        store: store(),
        // An invalid file does not make the gateway unready.
        config: { ok: config().ok, detail: config().detail },
        listening: serving ? { ok: true } : { ok: false, detail: 'the public port is not open yet' },
        draining: draining ? { ok: false, detail: 'shutting down' } : { ok: true },
      };
      for (const [name, { addresses, internalToken }] of upstreams()) {
        const up = addresses.filter((address) => !isDown(address)).length;
        parts[`upstream:${name}`] =
          internalToken?.refused === true
            ? { ok: false, detail: `${name} refuses the internal token` }
            : { ok: up > 0, detail: `${up} of ${addresses.length} addresses up` };
      }
      const lacking = archive();
      if (lacking !== undefined) parts['archive'] = lacking === null ? { ok: true } : { ok: false, detail: lacking };
      return { ready: parts['store']!.ok && serving && !draining, parts };
    },
    /** The public port is open: ready from now on, if the parts are. */
    serving: () => void (serving = true),
    storeOk: () => storeOk,
    /** Not ready from now on: load balancers should send requests elsewhere. */
    drain: () => void (draining = true),
    stop,
  };
}

/**
 * Returns whether admission works. Degraded: the shared store is unavailable, and this gateway decides by itself. A
 * gateway that knows no keys cannot, and must not replace ones that do, as in a rollout with a wrong password.
 */
function decides({ name, failover }: AdmissionEngine): Part {
  const reason = failover?.degraded() ?? null;
  if (failover === undefined || reason === null) return { ok: true, detail: name };
  const ok = failover.knowsKeys();
  const how = ok
    ? `; decided here, with 1/${failover.gateways()} of each limit`
    : ', and this gateway knows no keys yet: it refuses all of them';
  return { ok, degraded: true, detail: `${name} is unavailable (${reason})${how}` };
}
