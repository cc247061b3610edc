import { maskedAddress } from './explain.js';
import type { Settings } from './schema/gateway.js';

/** Summarizes the settings for people: a name and a line for each. Shows no secrets. */
export function summaryOf(settings: Settings, operations: number): Readonly<Record<string, string>> {
  const { environment, listen, tls, admin, workers, plans, contract, events } = settings;
  const withTls = tls === undefined ? '' : tls.http2 ? ', HTTP/2' : ', HTTP/1.1 only';
  return {
    environment,
    store: storeOf(settings),
    archive: maskedAddress(settings.store.archive ?? 'off'),
    public: `${tls === undefined ? 'http' : 'https'}://${hostOf(listen)}${withTls}`,
    admin: `http://${hostOf(admin)}`,
    workers: String(workers),
    upstreams: Object.entries(settings.upstreams)
      .map(([name, { addresses }]) => `${name}: ${addresses.join(', ') || 'none'}`)
      .join('; '),
    plans: [...plans.values()].map(({ name, retired }) => (retired === true ? `${name} (retired)` : name)).join(', '),
    contract: `${contract ?? 'none, every path is forwarded'}, ${operations} operations`,
    events: events === undefined ? 'off' : `to ${new URL(events.url).origin}/***`,
  };
}

function storeOf({ store, data }: Settings): string {
  if (store.redis === undefined) return `embedded, in ${data}`;
  const unavailable = store.on_failure === 'local' ? `decided here, in ${data}` : 'refused';
  return `${maskedAddress(store.redis)}; while it is unavailable ${unavailable}`;
}

function hostOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
