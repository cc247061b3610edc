import { Pool } from 'undici';
import type { RawAnswer } from '../servers/raw.js';
import type { Teardown } from '../servers/program.js';

export interface Ask {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS';
  readonly path?: string;
  /** Sent as JSON, unless `headers` say otherwise. */
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Somebody who asks a gateway over connections that stay open. */
export interface Client {
  /** `GET /v1/pets?limit=1`, unless something else is asked. `key` null: without a key. */
  send(key: string | null, ask?: Ask): Promise<RawAnswer>;
  close(): Promise<void>;
}

/**
 * @param connections how many requests are truly under way at once; each connection stays with one worker
 * @param ca the certificate to trust
 */
export function openClient(t: Teardown, url: string, connections: number, ca?: string): Client {
  const pool = new Pool(url, {
    connections,
    ...(ca === undefined ? {} : { connect: { ca } }),
    pipelining: 1,
    headersTimeout: 20_000,
    bodyTimeout: 20_000,
  });
  const close = (): Promise<void> => pool.destroy();
  t.teardown(close);
  return {
    close,
    send: async (key, { method = 'GET', path = '/v1/pets?limit=1', body, headers = {} } = {}) => {
      const answer = await pool.request({
        method,
        path,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const fields = Object.entries(answer.headers).map(
        ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')] as const,
      );
      return { status: answer.statusCode, headers: new Map(fields), body: await answer.body.text() };
    },
  };
}
