import type { OutgoingRequest } from './transport.js';

/** Without a body, only these methods send `Content-Length: 0` (RFC 9110 §8.6). */
const EXPECTS_BODY: ReadonlySet<string> = new Set(['PATCH', 'POST', 'PUT']);

/**
 * Whether the connection must end after this request: a server that expects no body with its method may take the body
 * for the next request, whose response would then reach another client.
 */
export function endsConnection({ method, body }: OutgoingRequest): boolean {
  return body !== null && (body.rest !== null || body.bytes.length > 0) && !EXPECTS_BODY.has(method);
}

/** Returns what follows the target in every request to `host`: built once for each address. */
export function fixedLines(host: string): string {
  return ` HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n`;
}

/** Returns the head of a request, including framing, to be written as latin1 (RFC 9112 §3). */
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
