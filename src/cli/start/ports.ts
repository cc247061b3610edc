import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { CommandError } from '../command-error.js';

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

/** Listens for a moment, so that a taken port is named here and not in a child's log. Gives the port's number. */
export async function claimPort({ host, port, purpose, variable }: WantedPort): Promise<number> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    throw new CommandError(
      `${reasonOf((error as NodeJS.ErrnoException).code, host, port)}, but it is for ${purpose}. Free it, or ` +
        `choose another with ${variable}=${otherThan(port)}`,
    );
  } finally {
    server.close();
  }
}

function otherThan(port: number): number {
  return port + 100 > HIGHEST_PORT ? port - 100 : port + 100;
}

function reasonOf(code: string | undefined, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is taken`;
  if (code === 'EACCES') return `Port ${port} on ${host} may not be opened by this user`;
  return `Port ${port} on ${host} can't be opened (${code ?? 'unknown reason'})`;
}
