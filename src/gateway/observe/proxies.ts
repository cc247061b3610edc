import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { PROXY_REFUSALS } from '../edge/proxy-protocol/listener.js';
import type { ProxyRefusal } from '../edge/proxy-protocol/listener.js';

/** Counts the connections that the PROXY protocol kept out. Only where it is spoken. */
export function countUnproxied(registry: Registry): (why: ProxyRefusal) => void {
  const refused = new Counter({
    name: 'petgate_proxy_protocol_refused_total', help: 'Connections closed because they did not begin with a PROXY header of a trusted proxy, by reason. Only with listen.proxy_protocol.', labelNames: ['reason'], registers: [registry],
  });
  for (const reason of PROXY_REFUSALS) refused.inc({ reason }, 0);
  return (reason) => refused.inc({ reason });
}
