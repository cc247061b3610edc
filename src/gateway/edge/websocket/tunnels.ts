import type { TunnelClose } from '../../exchange.js';
import type { HandshakeClient } from './client.js';

/** How often the holder of a tunnel is asked about: a revoked key keeps its tunnels at most this long. */
const RECHECK_MS = 5000;

/** The tunnels of a listener, handshakes under way included. */
interface Tunnels {
  size(): number;
  /** @param mayKeepTunnel asked again and again while the tunnel is open */
  add(client: HandshakeClient, mayKeepTunnel: () => Promise<boolean>): void;
  delete(client: HandshakeClient): void;
  /** Closes those that are open. */
  closeAll(by: TunnelClose): void;
}

export function createTunnels(): Tunnels {
  const tunnels = new Map<HandshakeClient, () => Promise<boolean>>();
  let timer: NodeJS.Timeout | null = null;

  const recheck = (): void => {
    for (const [{ tunnel }, mayKeepTunnel] of tunnels) {
      if (tunnel !== null) void mayKeepTunnel().then((stays) => stays || tunnel.close('key'));
    }
  };
  return {
    size: () => tunnels.size,
    add: (client, mayKeepTunnel) => {
      tunnels.set(client, mayKeepTunnel);
      timer ??= setInterval(recheck, RECHECK_MS).unref();
    },
    delete: (client) => {
      tunnels.delete(client);
      if (tunnels.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    },
    closeAll: (by) => {
      for (const { tunnel } of tunnels.keys()) tunnel?.close(by);
    },
  };
}
