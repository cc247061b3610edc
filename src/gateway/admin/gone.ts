import type { ServerResponse } from 'node:http';
import type { AdminParts } from '../actions/action.js';

/** Returns the parts, with reports, rehearsals and archive tasks that end when the response closes. */
export function forClient(parts: AdminParts, response: ServerResponse): AdminParts {
  const { report, rehearsal, archive } = parts;
  return {
    ...parts,
    ...(report && { report: (format, range) => endedBy(response, report(format, range)) }),
    ...(rehearsal && { rehearsal: (script) => endedBy(response, rehearsal(script)) }),
    ...(archive && { archive: (task) => endedBy(response, archive(task)) }),
  };
}

/** Ends the task when the response closes, even while its reader waits for the next piece. */
function endedBy<Pieces extends AsyncGenerator<unknown, void>>(response: ServerResponse, pieces: Pieces): Pieces {
  const end = (): void => void pieces.return().catch(() => undefined);
  if (response.closed) end();
  else response.once('close', end);
  return pieces;
}
