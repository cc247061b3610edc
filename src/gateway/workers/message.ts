import { Certificate } from '../config/certificate.js';
import type { Settings } from '../config/settings.js';
import type { Contract } from '../contract/load.js';
import type { Operation } from '../contract/operation.js';
import { buildRoutes } from '../contract/routes.js';
import type { Snapshot } from '../observe/figures.js';

/** What a worker says. */
export type Report =
  | { readonly type: 'born' }
  | { readonly type: 'taken_over' }
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'figures'; readonly figures: Snapshot };

/** What it is told: to send its figures, or what is in force from now on. */
export type Order = { readonly type: 'tell' } | { readonly type: 'in_force' } & Portable;

/** What a process runs by. A worker has it from the primary, never from the files: they may be bad by now, or say what only a new gateway may take over. */
export interface InForce {
  readonly settings: Settings;
  readonly certificate: Certificate | null;
  readonly contract: Contract;
}

/** What is in force, as it goes from process to process. */
interface Portable {
  readonly settings: Settings;
  readonly pem: ReturnType<Certificate['pem']> | null;
  readonly operations: readonly Operation[];
  readonly document: string;
}

export function orderOf({ settings, certificate, contract }: InForce): Order {
  return { type: 'in_force', settings, pem: certificate?.pem() ?? null, operations: contract.routes.operations, document: contract.document };
}

export function unpacked({ settings, pem, operations, document }: Portable): InForce {
  return { settings, certificate: pem === null ? null : new Certificate(Buffer.from(pem.cert), Buffer.from(pem.key)), contract: { routes: buildRoutes(operations), document } };
}
