import type { Log } from '../../../shared/log.js';
import type { OnReplaced } from '../../upstream/attempt.js';

/** Maximum characters logged of a body, and of its Content-Type. */
const SHOWN = 256;
/** Maximum bytes read for them. */
const READ_BYTES = 4096;
/** A possible credential: a long word of token characters (RFC 6750 §2.1), except `.` and `/`. */
const TOKEN = /[A-Za-z0-9_~+=-]{20,}/g;
const UNPRINTABLE = /[^\x20-\x7e]/g;
/** A broken upstream may fail every request: the access log lists them all, this log a few. */
const LINES_PER_SECOND = 10;

/** Logs error responses that the gateway replaced: shortened, printable, and without credentials they may echo. */
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
        'the upstream sent an error that is not an Error of the contract: the gateway replaced it',
      );
      leftOut = 0;
    };
}

/** Drops the last word if it was cut: half a token might not be recognized as one. */
function beginning(body: Buffer): string {
  const text = body.toString('latin1', 0, READ_BYTES);
  return body.length > READ_BYTES ? text.slice(0, text.search(/(?:^|(?<=\s))\S*$/)) : text;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text).replace(TOKEN, '***');
}
