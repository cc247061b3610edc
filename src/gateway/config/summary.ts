import { maskedAddress } from './explain.js';
import type { Settings } from './settings.js';

/** Summarizes the settings for people: a name and a line for each. Shows no secrets. */
export function summaryOf(settings: Settings, operations: number): Readonly<Record<string, string>> {
  const { environment, listen, http2, tls, admin, workers, plans, contract, events } = settings;
  const withTls = tls === null ? '' : http2 ? ', HTTP/2' : ', HTTP/1.1 only';
  return {
    environment,
    store: storeOf(settings),
    archive: settings.store.archive === null ? 'off' : maskedAddress(settings.store.archive),
    public: `${tls === null ? 'http' : 'https'}://${hostOf(listen)}${withTls}`,
    admin: `http://${hostOf(admin)}`,
    workers: String(workers),
    upstreams: Object.entries(settings.upstreams)
      .map(([name, { addresses }]) => `${name}: ${addresses.join(', ') || 'none'}`)
      .join('; '),
    plans: [...plans.values()].map(({ name, retired }) => (retired === true ? `${name} (retired)` : name)).join(', '),
    contract: `${contract ?? 'none, every path is forwarded'}, ${operations} operations`,
    events: events === null ? 'off' : `to ${new URL(events.url).origin}/***`,
  };
}

function storeOf({ store, dataFolder }: Settings): string {
  if (store.redisUrl === null) return `embedded, in ${dataFolder}`;
  const unavailable = store.onFailure === 'local' ? `decided here, in ${dataFolder}` : 'refused';
  return `${maskedAddress(store.redisUrl)}; while it is unavailable ${unavailable}`;
}

function hostOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
