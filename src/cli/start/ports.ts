import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { CommandError } from '../terminal/command-error.js';

const HIGHEST_PORT = 65_535;

/** A port that one of the programs is going to listen on. */
interface WantedPort {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** What it is for, and the variable that changes it. */
  readonly purpose: string;
  readonly variable: string;
}

/**
 * Listens briefly on each port, so that a port in use is named here and not in a child's log. On all together, or the
 * kernel might choose the same free port twice. Resolves to the port numbers, in the same order.
 */
export async function claimPorts(wanted: readonly WantedPort[]): Promise<readonly number[]> {
  const servers: Server[] = [];
  try {
    for (const one of wanted) servers.push(await listen(one));
    return servers.map((server) => (server.address() as AddressInfo).port);
  } finally {
    for (const server of servers) server.close();
  }
}

async function listen({ host, port, purpose, variable }: WantedPort): Promise<Server> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return server;
  } catch (error) {
    throw new CommandError(
      `${reasonOf((error as NodeJS.ErrnoException).code, host, port)}; ${purpose} needs it. Free it, or choose ` +
        `another port, such as ${variable}=${otherThan(port)}`,
    );
  }
}

function otherThan(port: number): number {
  return port + 100 > HIGHEST_PORT ? port - 100 : port + 100;
}

function reasonOf(code: string | undefined, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use`;
  if (code === 'EACCES') return `Port ${port} on ${host} may not be opened by this user`;
  return `Port ${port} on ${host} can't be opened (${code ?? 'unknown reason'})`;
}
