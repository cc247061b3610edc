import type { Log } from '../../shared/log.js';
import type { OnReplaced } from '../upstream/attempt.js';

/** Characters of a body, and of its Content-Type, that are worth a line. */
const SHOWN = 256;
/** Bytes that are looked at for them. */
const READ_BYTES = 4096;
/** What could be a credential: a long word of the characters of tokens (RFC 6750 §2.1), without those of paths. */
const TOKEN = /[A-Za-z0-9_~+=-]{20,}/g;
const UNPRINTABLE = /[^\x20-\x7e]/g;
/** An upstream in trouble may fail each request: the access log names them all, this one some. */
const LINES_PER_SECOND = 10;

/** Logs what upstreams answered in place of an Error: cut, printable, and without credentials it may echo. */
export function logReplaced(
  log: Log,
  now: () => number = () => performance.now(),
): (ofUpstream: readonly string[]) => OnReplaced {
  let secondMs = -Infinity;
  let lines = 0;
  let leftOut = 0;
  return (ofUpstream) =>
    ({ id, authorization, clientAuthorization, logEntry }, status, contentType, body) => {
      if (now() - secondMs >= 1000) {
        secondMs = now();
        lines = 0;
      }
      lines += 1;
      if (lines > LINES_PER_SECOND) {
        leftOut += 1;
        return;
      }
      const ofClient = [authorization, clientAuthorization].flatMap((said) => (said ?? '').split(' ').slice(1));
      const secrets = [...ofUpstream, ...ofClient].filter((secret) => secret !== '');
      const shown = (text: string): string => withoutSecrets(text, secrets).replace(UNPRINTABLE, '?').slice(0, SHOWN);
      log.warn(
        {
          upstream: logEntry.upstream,
          request: id,
          operation: logEntry.operation,
          status,
          contentType: shown(contentType),
          bytes: body.length,
          body: shown(beginning(body)),
          leftOut,
        },
        'the upstream answered with an error that is no Error: the client got one of ours',
      );
      leftOut = 0;
    };
}

/** Without the word at the end, if it was cut: half a token would not be known for one. */
function beginning(body: Buffer): string {
  const text = body.toString('latin1', 0, READ_BYTES);
  return body.length > READ_BYTES ? text.slice(0, text.search(/(?:^|(?<=\s))\S*$/)) : text;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text).replace(TOKEN, '***');
}
