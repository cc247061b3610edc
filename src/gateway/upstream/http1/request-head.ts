import type { OutgoingRequest } from '../transport.js';

/** A POST without a body says so; a GET without one says nothing (RFC 9110 §8.6). */
const EXPECTS_BODY: ReadonlySet<string> = new Set(['PATCH', 'POST', 'PUT']);

/**
 * Whether its connection ends with it: a server that expects no body with this method may take it for the next request,
 * and its response would be somebody else's.
 */
export function endsConnection({ method, body }: OutgoingRequest): boolean {
  return body !== null && (body.rest !== null || body.bytes.length > 0) && !EXPECTS_BODY.has(method);
}

/** What every request to `host` says after its target: worked out once for each address. */
export function fixedLines(host: string): string {
  return ` HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n`;
}

/** The head of a request, framing included, to be written as latin1 (RFC 9112 §3). */
export function requestHead(
  request: OutgoingRequest,
  { prefix, fixedLines: fixed }: { readonly prefix: string; readonly fixedLines: string },
): string {
  const { method, target, headers, body, host } = request;
  let lines = host === null ? fixed : fixedLines(host);
  if (endsConnection(request)) lines = lines.replace(/keep-alive(?=\r\n$)/, 'close');
  let head = `${method} ${prefix}${target}${lines}`;
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]!}: ${headers[index + 1]!}\r\n`;
  if (body !== null && body.rest !== null && body.rest.length === null)
    return `${head}Transfer-Encoding: chunked\r\n\r\n`;
  const length = body === null ? 0 : (body.rest?.length ?? body.bytes.length);
  return length > 0 || EXPECTS_BODY.has(method) ? `${head}Content-Length: ${length}\r\n\r\n` : `${head}\r\n`;
}
