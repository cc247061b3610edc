import type { OutgoingRequest } from '../transport.js';

/** A POST without a body says so; a GET without one says nothing (RFC 9110 §8.6). */
const EXPECTS_BODY: ReadonlySet<string> = new Set(['PATCH', 'POST', 'PUT']);

/** What every request to `host` says after its target: worked out once for each address. */
export function fixedLines(host: string): string {
  return ` HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n`;
}

/** The head of a request, framing included, to be written as latin1 (RFC 9112 §3). */
export function requestHead(
  { method, target, headers, body, host }: OutgoingRequest,
  { prefix, fixedLines: fixed }: { readonly prefix: string; readonly fixedLines: string },
): string {
  let head = `${method} ${prefix}${target}${host === null ? fixed : fixedLines(host)}`;
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]!}: ${headers[index + 1]!}\r\n`;
  if (body !== null && body.rest !== null && body.rest.length === null)
    return `${head}Transfer-Encoding: chunked\r\n\r\n`;
  const length = body === null ? 0 : (body.rest?.length ?? body.bytes.length);
  return length > 0 || EXPECTS_BODY.has(method) ? `${head}Content-Length: ${length}\r\n\r\n` : `${head}\r\n`;
}
