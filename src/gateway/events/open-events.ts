import type { Registry } from 'prom-client';
import type { Outbox } from '../store/outbox/event.js';
import type { EventsSettings } from '../config/schema/events.js';
import type { Log } from '../../shared/log.js';
import { Deliverer } from './deliverer.js';
import { messageOf } from './message.js';
import { watchEvents } from './metrics.js';
import { createSender } from './send.js';

interface EventsParts {
  readonly settings: EventsSettings;
  readonly keys: readonly Buffer[];
  readonly environment: string;
  readonly outbox: Outbox;
  readonly registry: Registry;
  readonly log: Log;
}

export function openEvents({ settings, keys, environment, outbox, registry, log }: EventsParts): Deliverer {
  const { url, allow_local: allowLocal, timeout: timeoutMs, retry: retryMs } = settings;
  const { send, close } = createSender({ url, allowLocal, timeoutMs });
  return new Deliverer({
    ...{ outbox, timeoutMs, retryMs, log, close },
    send: (event) => send(messageOf(event, `/petgate/${environment}`, keys, Date.now())),
    attempted: watchEvents(registry, outbox),
  });
}
