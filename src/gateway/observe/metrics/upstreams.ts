import type { Registry } from 'prom-client';
import { isDown, type Address } from '../../upstream/addresses/address.js';
import type { UpstreamEvents, Upstreams } from '../../upstream/pools.js';
import type { Log } from '../../../shared/log.js';
import { counterOf, gaugesOf } from '../../../shared/metrics/gauge.js';

/** Counts breakers that open. Logs breakers, TLS failures, unresolved names and refused internal tokens. */
export function watchAddresses(registry: Registry, upstreams: Iterable<string>, log: Log): UpstreamEvents {
  const help = 'Times an address was passed over because its requests failed.';
  const opened = counterOf(registry, 'petgate_upstream_breaker_opened_total', help, 'upstream');
  for (const upstream of upstreams) opened.inc({ upstream }, 0);
  // Two addresses, one that accepts the token and one that refuses it, would log at every request.
  let refusalLoggedMs = -Infinity;
  return {
    breakerChanged: (upstream, { url: address }, change) => {
      if (change.open) {
        opened.inc({ upstream });
        log.warn(
          { upstream, address, failure: change.failure },
          'requests to this address fail: it is passed over, except for occasional trials',
        );
      } else log.info({ upstream, address, openMs: Math.round(change.openedForMs) }, 'this address responds again');
    },
    tlsFailed: (upstream, { url: address }, code) =>
      log.error(
        { upstream, address, code, reason: tlsReason(code) },
        'no TLS with this address: nothing is sent to it',
      ),
    unresolved: (upstream, name, code) => {
      if (code === null) log.info({ upstream, name }, 'this name resolves again');
      else log.warn({ upstream, name, code }, "this name can't be resolved: its last known addresses stay in use");
    },
    tokenRefused: (upstream, refused) => {
      if (performance.now() - refusalLoggedMs < REFUSAL_EVERY_MS) return;
      refusalLoggedMs = performance.now();
      if (refused)
        log.error(
          { upstream },
          `${upstream} refuses the internal token: set the same PETGATE_INTERNAL_TOKEN for both, or give both the ` +
            'same file internal-token in their data folders',
        );
      else log.info({ upstream }, `${upstream} accepts the internal token again`);
    },
  };
}

const REFUSAL_EVERY_MS = 1_000;
const NOT_TRUSTED = "its certificate has no trusted issuer; name the issuer's certificate file in ca";
/** Keyed by the error codes of Node and OpenSSL. */
const TLS_REASONS: ReadonlyMap<string, string> = new Map([
  ['CERT_HAS_EXPIRED', 'its certificate has expired; renew it'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet; correct the clock on one of the two machines'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', NOT_TRUSTED],
  ['SELF_SIGNED_CERT_IN_CHAIN', NOT_TRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', NOT_TRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', NOT_TRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', NOT_TRUSTED],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for other names; correct the address, or set servername'],
  ['ECONNRESET', 'it closed the connection; it may not speak TLS, or may require a client certificate (cert, key)'],
  ['ETIMEDOUT', 'it accepted the connection but did not complete TLS within the deadline (connect)'],
]);

function tlsReason(code: string): string {
  if (code.includes('_ALERT_') && /CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE/.test(code))
    return 'it does not accept our certificate, or requires one (cert, key)';
  return TLS_REASONS.get(code) ?? 'it does not speak TLS, or only versions other than 1.2 and 1.3';
}

/** Adds gauges for the load of upstreams, and for which of their addresses are up. */
export function watchUpstreams(registry: Registry, upstreams: () => Upstreams): void {
  const gauge = (
    name: string,
    help: string,
    read: (addresses: readonly Address[]) => number,
    aggregator: 'sum' | 'average',
  ): void =>
    gaugesOf(
      registry,
      name,
      help,
      'upstream',
      () => [...upstreams()].map(([upstream, { addresses }]) => [upstream, read(addresses)]),
      aggregator,
    );
  const share = (name: string, help: string, holds: (address: Address) => boolean): void =>
    gauge(name, help, (addresses) => addresses.filter(holds).length / addresses.length, 'average');
  const total = (name: string, help: string, of: (address: Address) => number): void =>
    gauge(name, help, (addresses) => addresses.reduce((sum, address) => sum + of(address), 0), 'sum');
  share(
    'petgate_upstream_up_ratio',
    'Share of the addresses that the last attempt reached, that are not passed over because their requests ' +
      'fail, and whose last health check, if any, succeeded; the mean over workers.',
    (address) => address.reached !== false && !isDown(address),
  );
  gauge('petgate_upstream_addresses', 'Addresses of an upstream.', ({ length }) => length, 'average');
  share(
    'petgate_upstream_checked_ratio',
    'Share of the addresses that a request or a health check has tried to reach; the mean over workers.',
    ({ reached }) => reached !== null,
  );
  share(
    'petgate_upstream_open_ratio',
    'Share of the addresses that are passed over because their requests fail; the mean over workers.',
    ({ breaker }) => breaker.isOpen,
  );
  total(
    'petgate_upstream_in_flight',
    'Requests in flight to an upstream, including those that wait for a connection.',
    ({ underWay }) => underWay.size,
  );
  total(
    'petgate_upstream_queued',
    'Requests that wait for a connection to an upstream.',
    ({ pool, shares }) => pool.stats.queued + shares.waiting,
  );
  gaugesOf(
    registry,
    'petgate_upstream_uploads_waiting',
    'Long request bodies that wait, unread, for others to the same upstream to end.',
    'upstream',
    () => [...upstreams()].map(([upstream, { uploads }]) => [upstream, uploads.waiting]),
    'sum',
  );
  total('petgate_upstream_connections', 'Open connections to an upstream.', ({ pool }) => pool.stats.connected);
}
