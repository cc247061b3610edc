import { createHash } from 'node:crypto';
import { EVERY_OPERATION } from '../admission/windows.js';
import { isOperationName } from '../../shared/names/operation-name.js';
import type { Path } from '../config/files/yaml-file.js';
import type { Report } from './document/findings.js';
import { MALFORMED, OPTIONS, OWN_USAGE, UNMATCHED } from './route.js';

/** What metrics call operations beyond those that have series of their own. */
export const OTHER = 'other';
const OURS: ReadonlySet<unknown> = new Set([UNMATCHED, MALFORMED, OPTIONS, OTHER, EVERY_OPERATION]);
/** Characters that are kept of a name that is too long. */
const KEPT = 150;

interface Unnamed {
  readonly operationId: unknown;
  readonly method: string;
  readonly template: string;
  /** `gateway`: answered here. */
  readonly upstream: string;
  readonly at: Path;
}

/** What each is called: by its operationId, or by method and path where that can't be, or would name two. */
export function nameOperations(operations: readonly Unnamed[], warn: Report): readonly string[] {
  const counts = new Map<unknown, number>();
  for (const { operationId } of operations) counts.set(operationId, (counts.get(operationId) ?? 0) + 1);
  return operations.map(({ operationId, method, template, upstream, at }) => {
    const name = `${method} ${template}`;
    const byPath = isOperationName(name) ? name : shortened(name);
    if (operationId === undefined || operationId === byPath) return byPath;
    const reason = reasonAgainst(operationId, upstream, counts.get(operationId)!);
    if (reason === null) return operationId as string;
    warn([...at, 'operationId'], 'value', `${reason}; the operation is called ${JSON.stringify(byPath)}`);
    return byPath;
  });
}

function reasonAgainst(operationId: unknown, upstream: string, count: number): string | null {
  if (typeof operationId !== 'string' || !isOperationName(operationId))
    return 'is no text of 1 to 200 bytes without control characters';
  const name = JSON.stringify(operationId);
  if (count > 1) return `${name} is the operationId of ${count} operations`;
  const isOurs = OURS.has(operationId) || (operationId === OWN_USAGE && upstream !== 'gateway');
  return isOurs || /^[A-Z]+ \//.test(operationId) ? `${name} is a name of Petgate's own` : null;
}

/** What is left out tells apart by its hash. */
function shortened(name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.replace(/[^\x20-\x7e]/g, '_').slice(0, KEPT)}…${hash}`;
}
