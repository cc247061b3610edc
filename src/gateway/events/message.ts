import { createHmac } from 'node:crypto';
import { subjectOf, type GatewayEvent } from '../store/outbox/event.js';

export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A CloudEvent 1.0 in structured mode, identical in every attempt, with the headers of Standard Webhooks: ID, time of
 * the attempt in seconds, and a signature for each key.
 * @param source identifies the gateways (CloudEvents)
 */
export function messageOf(event: GatewayEvent, source: string, keys: readonly Buffer[], nowMs: number): Message {
  const { id, type, atMs, data } = event;
  const body = JSON.stringify({
    specversion: '1.0',
    id,
    source,
    type,
    subject: subjectOf(id),
    time: new Date(atMs).toISOString(),
    datacontenttype: 'application/json',
    data,
  });
  const timestamp = Math.floor(nowMs / 1000).toString();
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'user-agent': 'petgate',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
  return { headers, body };
}
