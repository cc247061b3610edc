import { connect } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, ClientSessionOptions, OutgoingHttpHeaders } from 'node:http2';
import type { Target } from './dial.js';
import type { Teardown } from './program.js';
import type { RawAnswer } from './raw.js';

/**
 * What came of one stream: its answer, status 0 without one, and the code of its end: 0 when all went well, or it was
 * told to send no more.
 */
export interface StreamAnswer extends RawAnswer {
  readonly reset: number;
}

export interface StreamAsk {
  readonly method?: string;
  readonly path?: string;
  /** `Authorization: Bearer …`, as a front gives it. */
  readonly key?: string;
  readonly fields?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

/** A client over one connection of HTTP/2: Node's own. */
interface Http2Client {
  readonly session: ClientHttp2Session;
  /** Begins a request; the stream is open as long as `ends` is false. */
  begin(ask: StreamAsk, ends: boolean): ClientHttp2Stream;
  send(ask?: StreamAsk): Promise<StreamAnswer>;
  readonly closed: () => boolean;
}

export function openHttp2(t: Teardown, target: Target, options: ClientSessionOptions = {}): Http2Client {
  if (typeof target === 'number') throw new Error('HTTP/2 is for TLS');
  const session = connect('https://localhost', {
    host: '127.0.0.1',
    servername: 'localhost',
    port: target.port,
    ca: target.ca,
    ...options,
  } as ClientSessionOptions);
  let closed = false;
  session.on('error', () => undefined).on('close', () => (closed = true));
  t.teardown(() => session.destroy());
  const begin: Http2Client['begin'] = ({ method = 'GET', path = '/v1/pets', key, fields = {} }, ends) => {
    const stream = session.request(
      {
        ':method': method,
        ':path': path,
        ...(key === undefined ? {} : { authorization: key.replace('Authorization: ', '') }),
        ...fields,
      },
      { endStream: ends },
    );
    stream.on('error', () => undefined);
    return stream;
  };
  return {
    session,
    begin,
    closed: () => closed,
    send: (ask = {}) => {
      const stream = begin(ask, ask.body === undefined);
      if (ask.body !== undefined) stream.end(ask.body);
      return answerOf(stream);
    },
  };
}

/** Resolves when the stream is closed. */
export function answerOf(stream: ClientHttp2Stream): Promise<StreamAnswer> {
  return new Promise((resolve) => {
    const headers = new Map<string, string>();
    let [status, body] = [0, ''];
    stream.on('response', (fields) => {
      status = fields[':status'] ?? 0;
      for (const [name, value] of Object.entries(fields)) if (!name.startsWith(':')) headers.set(name, String(value));
    });
    stream.setEncoding('latin1').on('data', (text: string) => (body += text));
    stream.on('close', () => resolve({ status, headers, body, reset: stream.rstCode }));
  });
}
