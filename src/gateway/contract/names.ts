import { createHash } from 'node:crypto';
import { EVERY_OPERATION } from '../admission/windows.js';
import { isOperationName } from '../../shared/names/operation-name.js';
import type { Report } from './document/findings.js';
import { OWN_IDS } from './own.js';
import type { LoadedOperation } from './read.js';
import { MALFORMED, OPTIONS, UNMATCHED } from './route.js';

/** The name in metrics for operations without series of their own. */
export const OTHER = 'other';
const OURS: ReadonlySet<unknown> = new Set([UNMATCHED, MALFORMED, OPTIONS, OTHER, EVERY_OPERATION]);
/** Number of characters kept of a name that is too long. */
const KEPT = 150;

type Unnamed = Omit<LoadedOperation, 'operation'>;

/** Returns each operation's name: its operationId, or method and path if that is missing, not valid or not unique. */
export function nameOperations(operations: readonly Unnamed[], warn: Report): readonly string[] {
  const counts = new Map<unknown, number>();
  for (const operation of operations)
    if (!isOurs(operation)) counts.set(operation.operationId, (counts.get(operation.operationId) ?? 0) + 1);
  return operations.map((operation) => {
    const { operationId, method, template, at } = operation;
    const name = `${method} ${template}`;
    const byPath = isOperationName(name) ? name : shortened(name);
    if (operationId === undefined || operationId === byPath) return byPath;
    const reason = reasonAgainst(operation, counts.get(operationId) ?? 0);
    if (reason === null) return operationId as string;
    warn([...at, 'operationId'], 'value', `${reason}; the operation is called ${JSON.stringify(byPath)}`);
    return byPath;
  });
}

/** Returns whether the name is reserved: for operations of the gateway itself, or not allowed for any operation. */
function isOurs({ operationId, upstream }: Unnamed): boolean {
  return OURS.has(operationId) || (OWN_IDS.has(operationId) && upstream !== 'gateway');
}

function reasonAgainst(operation: Unnamed, count: number): string | null {
  const { operationId } = operation;
  if (typeof operationId !== 'string' || !isOperationName(operationId))
    return 'is no text of 1 to 200 bytes without control characters';
  const name = JSON.stringify(operationId);
  if (count > 1) return `${name} is the operationId of ${count} operations`;
  return isOurs(operation) || /^[A-Z]+ \//.test(operationId) ? `${name} is a name of Petgate's own` : null;
}

/** Shortens a name and adds a hash, so that names with the same beginning stay distinct. */
function shortened(name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.replace(/[^\x20-\x7e]/g, '_').slice(0, KEPT)}…${hash}`;
}
