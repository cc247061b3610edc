import { StoreUnavailable, type AdmissionRequest } from '../../../admission/port.js';
import type { Verdict } from '../../../admission/verdict.js';
import { groupBy } from '../../../../shared/group-by.js';
import type { Link } from '../link/link.js';
import { subjectName } from '../keyspace/names.js';
import type { Eviction } from './eviction.js';

/** Whether the store says that it has no such key or secret. A store that lost its data says the same. */
export function isUnknown(verdict: Verdict | undefined): boolean {
  return verdict?.outcome === 'unknown_key' && verdict.reason === 'unknown';
}

/**
 * Returns the verdicts of a batch once each node that did not know a key has shown that it is still the same store and
 * does not evict records: a Redis that lost a key does not make it invalid. Rejects with StoreUnavailable if one has
 * not, or with `failed`; its `decided` lacks the verdicts of such nodes.
 */
export async function confirmUnknown(
  link: Pick<Link, 'nodeOf' | 'identify'>,
  eviction: Pick<Eviction, 'vouch'>,
  requests: readonly AdmissionRequest[],
  verdicts: readonly (Verdict | undefined)[],
  failed?: StoreUnavailable,
): Promise<readonly Verdict[]> {
  const nameOf = (index: number): string => subjectName(requests[index]!.subject);
  const unknown = [...verdicts.keys()].filter((index) => isUnknown(verdicts[index]));
  let error = failed;
  const doubted: number[] = [];
  for (const indices of groupBy(unknown, (index) => link.nodeOf(nameOf(index))).values()) {
    const name = nameOf(indices[0]);
    await Promise.all([link.identify(name), eviction.vouch(name)]).catch((reason: unknown) => {
      if (!(reason instanceof StoreUnavailable)) throw reason;
      error ??= reason;
      doubted.push(...indices);
    });
  }
  if (error === undefined) return verdicts as readonly Verdict[];
  throw without(verdicts, doubted, error);
}

/** Returns the error without these verdicts: they spent nothing, so another engine may decide. */
export function without(
  verdicts: readonly (Verdict | undefined)[],
  doubted: readonly number[],
  { message, notSent }: StoreUnavailable,
): StoreUnavailable {
  const decided = [...verdicts];
  for (const index of doubted) decided[index] = undefined;
  return new StoreUnavailable(message, { decided, notSent: [...notSent, ...doubted] });
}
