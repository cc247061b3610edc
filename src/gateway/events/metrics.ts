import type { Registry } from 'prom-client';
import { EVENT_TYPES, type EventType, type Outbox, type OutboxFigures } from '../store/outbox/event.js';
import { counterOf, gaugeOf, gaugesOf } from '../../shared/metrics/gauge.js';

const OUTCOMES = ['delivered', 'failed'] as const;

/** Adds metrics of the events in the store. Returns the function that counts an attempt. */
export function watchEvents(
  registry: Registry,
  outbox: Pick<Outbox, 'figures'>,
): (type: EventType, outcome: (typeof OUTCOMES)[number]) => void {
  const help = "This gateway's attempts to deliver an event, by type and outcome. Only with events.";
  const attempts = counterOf(registry, 'petgate_event_attempts_total', help, 'type', 'outcome');
  for (const type of EVENT_TYPES) for (const outcome of OUTCOMES) attempts.inc({ type, outcome }, 0);
  let last: OutboxFigures = { waiting: 0, dead: 0, oldestMs: 0 };
  let reading: Promise<OutboxFigures | null> | null = null;
  const read = async (): Promise<OutboxFigures | null> => {
    const now = await outbox.figures().catch(() => null);
    last = now ?? last;
    reading = null;
    return now;
  };
  /** Both gauges share one read of the store per scrape. */
  const figures = (): Promise<OutboxFigures | null> => (reading ??= read());
  gaugesOf(
    registry,
    'petgate_events',
    'Events in the whole store that wait for delivery or are no longer tried; absent while the store is ' +
      'unavailable. Only with events.',
    'state',
    async () => {
      const now = await figures();
      return (
        now && [
          ['waiting', now.waiting],
          ['dead', now.dead],
        ]
      );
    },
  );
  gaugeOf(
    registry,
    'petgate_events_oldest_age_seconds',
    'Age of the oldest event that waits for the webhook, as last read from the store; 0 if none ' +
      'waits. Only with events.',
    async () => ((await figures()) ?? last).oldestMs / 1000,
  );
  return (type, outcome) => attempts.inc({ type, outcome });
}
