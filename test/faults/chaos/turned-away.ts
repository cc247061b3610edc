import type { RawAnswer } from '../../servers/raw.js';
import type { Program } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import type { Holder } from './holder.js';

/** Most that a client is told so cost nothing, though some were admitted first. */
const CODES: ReadonlySet<string> = new Set(['upstream_unavailable', 'overloaded']);
/** For lines that are on their way; of a program that was killed, or whose log nobody read, they may never come. */
const PATIENCE_MS = 5_000;

interface Open {
  readonly request: string;
  readonly holder: Holder;
  readonly program: Program;
  readonly atRisk: boolean;
}

/**
 * Answers that don't say whether the request was admitted: an upstream whose breaker is open, or that is full, is found
 * before admission, or after it. The gateway's log does, which has each refusal.
 */
export class TurnedAway {
  #open: Open[] = [];

  /** False where the answer itself says it. */
  note(kind: string, answer: RawAnswer, holder: Holder, program: Program, atRisk: boolean): boolean {
    if (!CODES.has(kind)) return false;
    this.#open.push({ request: answer.headers.get('x-request-id') ?? '', holder, program, atRisk });
    return true;
  }

  /** Adds to each holder what was counted, and what nobody knows. */
  async settle(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    let counted = new Map<string, unknown>();
    await until(
      'all stand in the log',
      () => {
        counted = countedIn(new Set(open.map(({ program }) => program)));
        return open.every(({ request }) => counted.has(request));
      },
      PATIENCE_MS,
    ).catch(() => undefined);
    for (const { request, holder, atRisk } of open) {
      const wasCounted = counted.get(request);
      if (wasCounted === true) {
        holder.admitted += 1;
        holder.failed += 1;
        if (atRisk) holder.atRisk += 1;
      } else if (wasCounted !== false) holder.unknown += 1;
    }
  }
}

/** By request, what the programs logged of it. */
function countedIn(programs: ReadonlySet<Program>): Map<string, unknown> {
  const counted = new Map<string, unknown>();
  for (const program of programs)
    for (const { msg, code, request, counted: wasCounted } of program.lines())
      if (msg === 'exchange' && CODES.has(String(code))) counted.set(String(request), wasCounted);
  return counted;
}
