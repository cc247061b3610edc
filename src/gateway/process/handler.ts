import { createAdmit, type OnVerdict } from '../admission/admit.js';
import type { Admission } from '../admission/batch.js';
import type { LeaseTracker } from '../store/leases.js';
import type { Settlements } from '../store/settlements.js';
import type { EndedRequest, ServingEngine } from '../store/port.js';
import type { Settings } from '../config/schema/gateway.js';
import { createDocumentAnswer, createOptionsAnswer } from '../contract/served/answers.js';
import type { Contract } from '../contract/load.js';
import type { Operation } from '../contract/operation/operation.js';
import { DOCS, OPENAPI, OWN_USAGE, ownOperation } from '../contract/own.js';
import { createRoute, MALFORMED } from '../contract/route.js';
import { createDocsAnswers } from '../docs/answer.js';
import { openHolderPages } from '../holder/open.js';
import { createAddressReader } from '../edge/client-address.js';
import { createCors } from '../edge/cors.js';
import type { Handler } from '../edge/handler.js';
import { createStrip } from '../edge/strip.js';
import type { Exchange, Identified } from '../exchange.js';
import { createIdentify } from '../accounts/identify.js';
import type { Metrics } from '../observe/metrics/metrics.js';
import type { RecentExchanges } from '../observe/recent/memory.js';
import type { Recall } from '../observe/recent/recall.js';
import { AccessLine } from '../observe/log/access-line.js';
import { createFinish, createTunnelOpened, type AccessLog } from '../observe/finish.js';
import { TextLine } from '../observe/log/text-line.js';
import { pipeline } from '../pipeline.js';
import type { OnReplaced } from '../upstream/attempt.js';
import { createForward, createReserve, type OwnResponse } from '../upstream/forward.js';
import type { Upstreams } from '../upstream/pools.js';
import type { BillsSoFar } from '../usage/so-far.js';
import type { Log } from '../../shared/log.js';
import { writeLine } from '../../shared/log-lines.js';

/** What a change of settings or contract does not replace. */
export interface HandlerDependencies {
  readonly internalToken: string;
  readonly log: Log;
  /** Unix ms, for sunset dates; defaults to the real clock. */
  readonly now?: () => number;
  readonly metrics: Metrics;
  /** Recent exchanges of this process, and how to ask all processes of the gateway. */
  readonly recent: RecentExchanges;
  readonly recall: Recall;
  readonly engine: ServingEngine;
  readonly admission: Admission;
  readonly settlements: Settlements;
  readonly leases: LeaseTracker;
  readonly bills: BillsSoFar;
  readonly ownUsage: OwnResponse;
  /** Returns the callback for replaced error responses of an upstream; it hides these secrets. */
  readonly onReplaced: (secrets: readonly string[]) => OnReplaced;
}

/** Builds the pipeline for one contract and its settings, with the upstreams to forward to. */
export function buildHandler(parts: HandlerDependencies, contract: Contract, settings: Settings, upstreams: Upstreams) {
  const { log, metrics, admission, settlements, leases, recent } = parts;
  const holder = openHolderPages(parts, contract, settings);
  const cors = settings.cors === undefined ? null : createCors(settings.cors, settings.credentials);
  const ownAnswers = new Map<string, OwnResponse>([
    ['options', createOptionsAnswer(cors)],
    [OPENAPI, createDocumentAnswer(contract.document)],
    ...createDocsAnswers(contract, settings),
    ...(holder?.answers ?? []),
    [OWN_USAGE, parts.ownUsage],
  ]);
  const isServed = ({ id, upstream }: Operation): boolean =>
    upstream === 'gateway' ? ownAnswers.has(id) : upstreams.has(upstream);

  const answersPreflights = ({ upstream }: Operation): boolean =>
    cors === null && upstreams.get(upstream)?.settings.preflights === true;

  const onVerdict: OnVerdict = (verdict, operation) => {
    metrics.verdict(verdict, operation);
    if (verdict.outcome === 'admitted' && verdict.lease !== undefined)
      leases.began({ keyId: verdict.keyId ?? '', id: verdict.lease, isLocal: verdict.local === true });
  };
  const onEnded = (request: EndedRequest): void => {
    settlements.add(request);
    const { keyId, lease: id, isLocal = false } = request;
    if (id !== undefined) leases.ended({ keyId, id, isLocal });
  };

  const run = pipeline({
    strip: createStrip(settings.credentials),
    route: createRoute(contract.routes, isServed, parts.now ?? Date.now, answersPreflights),
    identify: createIdentify(settings.environment, settings.keys.accept_imported),
    admit: createAdmit(
      admission,
      settings,
      onVerdict,
      createReserve(upstreams, settings.limits.caller_share, metrics.upstreamFailed),
    ),
    forward: createForward(
      upstreams,
      ownAnswers,
      parts.internalToken,
      settings.limits,
      metrics.upstreamFailed,
      parts.onReplaced,
      (exchange) => stillAllowed(admission, exchange),
    ),
  });
  const { plans } = settings;
  const accessLog = accessLogOf(settings.log, log);
  const finish = createFinish(metrics, accessLog, onEnded, recent, plans);
  const handler: Handler = {
    limits: settings.limits,
    addresses: createAddressReader(settings.trusted_proxies),
    cors,
    errors: {
      form: settings.errors,
      docs: ownOperation(contract.routes.operations, DOCS)?.path ?? '',
      page: holder?.refusal ?? null,
    },
    run,
    readVerdict: (exchange) => readVerdict(admission, exchange),
    allowsTunnel: (path) => allowsTunnel(contract, path),
    tunnelOpened: createTunnelOpened(metrics),
    mayKeepTunnel: (exchange) => stillAllowed(admission, exchange as Identified),
    finish,
    onBug: (error, exchange) =>
      log.error(
        { err: error, request: exchange.id, operation: exchange.logEntry.operation },
        'a request met a fault of the gateway',
      ),
  };
  return { handler, upstreams };
}

/** Returns null if exchanges are not logged. */
function accessLogOf({ access, level, sampled }: Settings['log'], log: Log): AccessLog | null {
  if (access === 'text') return level === 'silent' ? null : { Line: TextLine, write: writeLine, sampled };
  return access && log.isLevelEnabled('info') ? { Line: AccessLine, write: writeLine, sampled } : null;
}

/** Peeks at the limits of the address, for the headers of a response to malformed HTTP, which Node refuses itself. */
async function readVerdict(admission: Admission, exchange: Exchange): Promise<void> {
  const subject = { kind: 'address', address: exchange.addressBucket } as const;
  const verdict = await admission.admit({ subject, operation: MALFORMED, scope: null, cost: 0 }).catch(() => null);
  if (verdict === null || verdict.outcome === 'unknown_key') return;
  exchange.logEntry.verdict = verdict;
  exchange.logEntry.decidedMs = performance.now();
}

function allowsTunnel({ routes }: Contract, path: string): boolean {
  const match = routes.match('GET', path);
  return match.kind === 'operation' && match.operation.websocket;
}

/** Returns whether the key of an open tunnel or stream is still allowed; true while the store is unavailable. */
async function stillAllowed(
  admission: Admission,
  { subject, requirements: { operation, scope } }: Identified,
): Promise<boolean> {
  const verdict = await admission.admit({ subject, operation, scope, cost: 0 }).catch(() => null);
  if (verdict === null) return true;
  return verdict.outcome !== 'unknown_key' && verdict.outcome !== 'banned' && verdict.inScope;
}
