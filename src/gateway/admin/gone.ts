import type { ServerResponse } from 'node:http';
import type { AdminParts } from '../actions/action.js';

/** Returns a signal that is aborted when the response closes. */
export function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** Returns the parts, with reports, rehearsals and archive tasks that end when the client is gone. */
export function forClient(parts: AdminParts, gone: AbortSignal): AdminParts {
  const { report, rehearsal, archive } = parts;
  return {
    ...parts,
    ...(report && { report: (format, range) => endedBy(gone, report(format, range)) }),
    ...(rehearsal && { rehearsal: (script) => endedBy(gone, rehearsal(script)) }),
    ...(archive && { archive: (task) => endedBy(gone, archive(task)) }),
  };
}

/** Ends the task when `gone` is aborted, even while its reader waits for the next piece. */
function endedBy<Pieces extends AsyncGenerator<unknown, void>>(gone: AbortSignal, pieces: Pieces): Pieces {
  const end = (): void => void pieces.return().catch(() => undefined);
  if (gone.aborted) end();
  else gone.addEventListener('abort', end, { once: true });
  return pieces;
}
