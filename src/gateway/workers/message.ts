import { Certificate } from '../config/certificate.js';
import type { Settings } from '../config/schema/gateway.js';
import type { Contract } from '../contract/load.js';
import type { Operation } from '../contract/operation/operation.js';
import { buildRoutes } from '../contract/path/routes.js';
import type { Question, Remembered } from '../observe/recent/memory.js';
import type { Recalled } from '../observe/recent/recall.js';
import type { StoreCall, StoreReply } from './owner.js';
import type { Snapshot } from './worker-metrics.js';

export type WorkerMessage =
  | StoreCall
  | { readonly type: 'started' }
  | { readonly type: 'applied' }
  | { readonly type: 'listening'; readonly port: number }
  /** `number`: of the question that it answers; absent if sent at an interval. */
  | { readonly type: 'metrics'; readonly number?: number; readonly metrics: Snapshot }
  /** A question to all workers. */
  | ({ readonly type: 'ask' } & Numbered)
  | { readonly type: 'remembered'; readonly number: number; readonly remembered: Remembered };

export type PrimaryMessage =
  | StoreReply
  | { readonly type: 'send_metrics'; readonly number: number }
  | ({ readonly type: 'remember' } & Numbered)
  | { readonly type: 'recalled'; readonly number: number; readonly recalled: Recalled }
  | ({ readonly type: 'apply' } & Serialized);

interface Numbered {
  readonly number: number;
  readonly question: Question;
}

/**
 * The configuration of a process. A worker gets it from the primary: the files may be invalid by now, or contain
 * changes that need a restart.
 */
export interface Configuration {
  readonly settings: Settings;
  readonly certificate: Certificate | null;
  readonly contract: Contract;
}

interface Serialized {
  readonly settings: Settings;
  readonly pem: ReturnType<Certificate['pem']> | null;
  /** Null if it has not changed since it was last sent. */
  readonly contract: (Omit<Contract, 'routes'> & { readonly operations: readonly Operation[] }) | null;
}

/** @param isKnown whether the worker already has the contract */
export function applyCommand({ settings, certificate, contract }: Configuration, isKnown: boolean): PrimaryMessage {
  const { routes, pathRules, document, hash } = contract;
  return {
    type: 'apply',
    settings,
    pem: certificate?.pem() ?? null,
    contract: isKnown ? null : { operations: routes.operations, pathRules, document, hash },
  };
}

/** @param before the previous configuration; null at the start */
export function deserialize({ settings, pem, contract }: Serialized, before: Configuration | null): Configuration {
  return {
    settings,
    certificate: pem === null ? null : new Certificate(Buffer.from(pem.cert), Buffer.from(pem.key)),
    contract: contract === null ? before!.contract : revive(contract),
  };
}

function revive({ operations, document, ...contract }: NonNullable<Serialized['contract']>): Contract {
  return { ...contract, routes: buildRoutes(operations, contract.pathRules), document: Buffer.from(document) };
}
