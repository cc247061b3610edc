import type { Registry } from 'prom-client';
import type { CustomerStore } from '../store/records/customer.js';
import type { Outbox } from '../store/outbox/event.js';
import type { EventsSettings } from '../config/settings.js';
import type { Log } from '../../shared/log.js';
import { Deliverer } from './deliverer.js';
import { messageOf } from './message.js';
import { watchEvents } from './metrics.js';
import { Receivers } from './receivers.js';
import { createSender, customersReach, operatorsReach } from './send.js';

interface EventsParts {
  readonly settings: EventsSettings;
  readonly keys: readonly Buffer[];
  readonly environment: string;
  readonly outbox: Outbox;
  readonly customers: CustomerStore;
  readonly registry: Registry;
  readonly log: Log;
}

export function openEvents({ settings, keys, environment, outbox, customers, registry, log }: EventsParts): Deliverer {
  const { timeoutMs, retryMs, allowLocal, customerNetworks } = settings;
  return new Deliverer({
    outbox,
    receivers: new Receivers({
      url: settings.url,
      sender: createSender({ reach: operatorsReach(allowLocal), timeoutMs }),
      keys,
      customers,
      customerSender: createSender({ reach: customersReach(customerNetworks), timeoutMs }),
      messageOf: (event, its) => messageOf(event, `/petgate/${environment}`, its, Date.now()),
    }),
    timeoutMs,
    retryMs,
    attempted: watchEvents(registry, outbox),
    log,
  });
}
