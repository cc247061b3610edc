import type { ServerResponse } from 'node:http';
import type { AdminParts } from '../actions/action.js';

/** Aborted once nobody waits for this response any more. */
export function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** The parts, of which processes for reports and the archive end when the client that asked for them is gone. */
export function forClient(parts: AdminParts, gone: AbortSignal): AdminParts {
  const { report, rehearsal, archive } = parts;
  return {
    ...parts,
    ...(report && { report: (format, range) => endedBy(gone, report(format, range)) }),
    ...(rehearsal && { rehearsal: (script) => endedBy(gone, rehearsal(script)) }),
    ...(archive && { archive: (task) => endedBy(gone, archive(task)) }),
  };
}

/** Ends all of these when `gone` is aborted, also while somebody waits for their next piece. */
function endedBy<Pieces extends AsyncGenerator<unknown, void>>(gone: AbortSignal, pieces: Pieces): Pieces {
  const end = (): void => void pieces.return().catch(() => undefined);
  if (gone.aborted) end();
  else gone.addEventListener('abort', end, { once: true });
  return pieces;
}
