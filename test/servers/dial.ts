import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A port of this machine: of plain TCP, or with TLS and the certificate to trust. */
export type Target = number | { readonly port: number; readonly ca: string };

/** A connection to `target`; what is written before it is open is sent then. */
export function dial(target: Target): Socket {
  if (typeof target === 'number') return connect(target, '127.0.0.1');
  return connectTls({ host: '127.0.0.1', servername: 'localhost', ...target });
}
