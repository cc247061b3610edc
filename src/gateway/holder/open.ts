import type { Admission } from '../admission/batch.js';
import type { StandingVerdict } from '../admission/verdict.js';
import { KeyRegistry } from '../accounts/keys/registry.js';
import type { RefusalPage } from '../answer.js';
import type { Settings } from '../config/schema/gateway.js';
import type { Contract } from '../contract/load.js';
import { exampleRequest } from '../contract/example.js';
import { ACCOUNT, ownOperation } from '../contract/own.js';
import { samplesOf } from '../contract/samples.js';
import { createAddressReader } from '../edge/client-address.js';
import type { Recall } from '../observe/recent/recall.js';
import type { ServingEngine } from '../store/port.js';
import type { BillsSoFar } from '../usage/so-far.js';
import type { OwnResponse } from '../upstream/forward.js';
import { createHolderAnswers } from './answers.js';
import { createRefusalPage } from './refusal.js';
import { Visitors } from './visitors.js';

interface OpenParts {
  readonly engine: ServingEngine;
  readonly admission: Admission;
  readonly recall: Recall;
  readonly bills: BillsSoFar;
  readonly metrics: { readonly verdict: (verdict: StandingVerdict, operation: string) => void };
  /** Unix ms; defaults to the real clock. */
  readonly now?: () => number;
}

interface OpenPages {
  readonly answers: ReadonlyMap<string, OwnResponse>;
  readonly refusal: RefusalPage;
}

/** Creates the pages for key holders; null if the contract has none. */
export function openHolderPages(parts: OpenParts, contract: Contract, settings: Settings): OpenPages | null {
  const path = ownOperation(contract.routes.operations, ACCOUNT)?.path;
  if (path === undefined) return null;
  const { engine, admission, recall, bills, metrics, now = Date.now } = parts;
  const { environment, keys, plans, realm, credentials } = settings;
  const example = exampleRequest(contract);
  const { accept_imported: acceptImported, holders_rotate: mayRotate } = keys;
  const { sessionSecret } = engine;
  const answers = createHolderAnswers({
    ...{ path, engine, recall, bills, realm, mayRotate, onVerdict: metrics.verdict },
    samples: (base) => samplesOf(base, example, credentials[0]),
    usage: engine.failover?.ownUsage ?? engine.usage,
    visitors: new Visitors(path, { admission, sessionSecret, environment, acceptImported, now }),
    addresses: createAddressReader(settings.trusted_proxies),
    // Only rotates keys, which needs neither scopes nor the costs of operations.
    registry: new KeyRegistry({
      ...{ engine, environment, acceptImported, emitsEvents: settings.events !== undefined },
      ...{ plans: () => plans, scopes: [], costs: new Map() },
    }),
  });
  return { answers, refusal: createRefusalPage(path) };
}
